"""The record of the mutants: what counts as changed, and the page that is written from it."""

import tempfile
import unittest
from pathlib import Path

import record


class ARecord(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("gate.rs", "gate/judge.rs", "gate/walk/ends.rs"):
            self.put(name, f"// {name}")
        (self.root / record.RECORD).parent.mkdir(parents=True)
        (self.root / record.RECORD).write_text("{}")
        (self.root / record.PAGE).write_text(f"before\n{record.BEGIN}\n{record.END}\nafter\n")

    def put(self, name, text):
        file = self.root / record.SOURCES / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def write_all(self):
        record.write({path: {"caught": 2, "unviable": 1} for path in record.gate(self.root)}, self.root)

    def test_a_file_that_was_never_run_has_changed(self):
        self.assertEqual(len(record.changed(self.root)), 3)

    def test_after_a_run_nothing_has_changed_until_a_file_does(self):
        self.write_all()
        self.assertEqual(record.changed(self.root), [])
        self.put("gate/walk/ends.rs", "// other")
        self.put("gate/new.rs", "")
        changed = [Path(path).name for path in record.changed(self.root)]
        self.assertEqual(changed, ["new.rs", "ends.rs"])

    def test_a_run_of_one_file_leaves_the_others_as_they_were_and_forgets_what_is_gone(self):
        self.write_all()
        self.put("gate/judge.rs", "// other")
        (self.root / record.SOURCES / "gate/walk/ends.rs").unlink()
        record.write({"crates/decide/src/gate/judge.rs": {"caught": 5}}, self.root)
        self.assertEqual(record.changed(self.root), [])
        rows = (self.root / record.PAGE).read_text().splitlines()
        self.assertEqual(rows[0], "before")
        self.assertEqual(rows[4:], [
            "| `gate.rs` | 3 | 2 | 0 | 0 | 1 |",
            "| `gate/judge.rs` | 5 | 5 | 0 | 0 | 0 |",
            "| all | 8 | 7 | 0 | 0 | 1 |",
            record.END,
            "after",
        ])

    def test_the_page_of_this_tree_has_the_table_of_its_record(self):
        page = (record.ROOT / record.PAGE).read_text()
        self.assertIn(f"{record.BEGIN}\n{record.table(record.read())}{record.END}", page)


if __name__ == "__main__":
    unittest.main()
