"""What the last run saw: each file of the gate by its content, with what came of its mutants.

`cargo mutants --in-diff` needs the history that a change is against; a clone may have none. So the
record keeps a digest of every file whose mutants were all caught, and what differs from it is what
changed. Start at changed(). Invariant: a file stands in the record only as it was when none of its
mutants survived; the page's table is written from the record.

    python3 xtask/mutants/record.py     # names the files that changed
"""

import hashlib
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path("docs/dev/measured/mutants.json")
PAGE = Path("docs/dev/mutants.md")
SOURCES = Path("crates/decide/src")
OUTCOMES = ["caught", "missed", "timed out", "unviable"]
BEGIN, END = "<!-- written by xtask/mutants/all.py --write -->", "<!-- end -->"


def gate(root=ROOT):
    """The files of the gate, from the root, each with the digest of its content."""
    files = [root / SOURCES / "gate.rs", *sorted((root / SOURCES / "gate").rglob("*.rs"))]
    return {str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def read(root=ROOT):
    return json.loads((root / RECORD).read_text())


def changed(root=ROOT):
    """The files that are not as they were recorded."""
    known = read(root)
    return [path for path, digest in gate(root).items() if known.get(path, {}).get("sha256") != digest]


def write(counts, root=ROOT):
    """Keeps what came of these files, forgets those that are gone, and writes the page's table."""
    known, now = read(root), gate(root)
    for path, outcomes in counts.items():
        known[path] = {"sha256": now[path], **{name: outcomes.get(name, 0) for name in OUTCOMES}}
    kept = {path: known[path] for path in now if path in known}
    (root / RECORD).write_text(json.dumps(kept, indent=1) + "\n")
    page = (root / PAGE).read_text()
    before, rest = page.split(BEGIN)
    (root / PAGE).write_text(f"{before}{BEGIN}\n{table(kept)}{END}{rest.split(END)[1]}")


def table(counts):
    """The outcomes of each file as a table of the page, with their sum."""
    names = ["mutants", *OUTCOMES]
    rows = [[counts[path].get(name, 0) for name in OUTCOMES] for path in counts]
    labels = [f"`{Path(path).relative_to(SOURCES)}`" for path in counts] + ["all"]
    rows.append([sum(column) for column in zip(*rows)] or [0] * len(OUTCOMES))
    lines = ["| file | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| {label} | " + " | ".join(map(str, [sum(row), *row])) + " |" for label, row in zip(labels, rows)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print("\n".join(changed()))
