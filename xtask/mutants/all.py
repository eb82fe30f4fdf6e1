"""Runs the gate's tests against every mutant that `cargo mutants` lists, in one build.

Compiling each mutant by itself takes hours for the whole gate. Here all of them stand in one copy of
the tree, each behind a switch (the environment variable MUTANT), so that one build serves them all.
Start at main(). Invariant: the mutants are those of `cargo mutants --list`, and one that could not be
placed is named; nothing is left out in silence.

    python -m venv .venv && .venv/bin/pip install -r xtask/mutants/requirements.txt
    .venv/bin/python xtask/mutants/all.py [part of a mutant's name ...]
"""

import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import tree_sitter
import tree_sitter_rust

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "mutants"
COPY = WORK / "tree"
CRATE = Path("crates/decide")
FILES = ["crates/decide/src/gate.rs", "crates/decide/src/gate/**/*.rs"]
OTHER_TESTS = ["macros::", "text::", "commands::", "intents::", "properties::"]
# These take long and seldom catch what the tables let through, so they run last.
SLOW_TESTS = ["attacks::", "matrix::", "honest::"]
SECONDS_MAX = 60
SWITCH = """
#[doc(hidden)]
pub mod mutant {
    static ACTIVE: std::sync::LazyLock<u32> =
        std::sync::LazyLock::new(|| std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(0));
    pub fn is(id: u32) -> bool { *ACTIVE == id }
    pub fn and(id: u32, a: bool, b: impl FnOnce() -> bool) -> bool { if is(id) { a || b() } else { a && b() } }
    pub fn or(id: u32, a: bool, b: impl FnOnce() -> bool) -> bool { if is(id) { a && b() } else { a || b() } }
}
"""
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


def listed():
    """The mutants of `cargo mutants`, numbered from one."""
    files = [word for pattern in FILES for word in ("-f", pattern)]
    command = ["cargo", "mutants", "--list", "--json", "--diff", "-p", "decide", *files]
    mutants = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    for number, mutant in enumerate(mutants, 1):
        mutant["id"] = number
        mutant["text"] = mutant["replacement"].replace("/* ~ changed by cargo-mutants ~ */", "").strip()
    return mutants


class File:
    """One source file with its mutants; `source()` is the file with all of them behind their switch."""

    def __init__(self, path, mutants):
        self.bytes = (ROOT / path).read_bytes()
        self.placed = set()
        lines = self.bytes.decode().split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line.encode()) + 1)
        self.at = {}
        self.functions = []
        for mutant in mutants:
            span = mutant["span"]
            start, end = (
                starts[point["line"] - 1] + len(lines[point["line"] - 1][: point["column"] - 1].encode())
                for point in (span["start"], span["end"])
            )
            if mutant["genre"] == "FnValue":
                self.functions.append((start, end, mutant))
            else:
                self.at.setdefault((mutant["genre"], start), []).append(mutant)

    def source(self):
        root = PARSER.parse(self.bytes).root_node
        return self.text(0, root.start_byte) + self.render(root) + self.text(root.end_byte, len(self.bytes))

    def text(self, start, end):
        return self.bytes[start:end].decode()

    def found(self, genre, start):
        return self.at.get((genre, start), [])

    def switch(self, mutant):
        self.placed.add(mutant["id"])
        return f"crate::mutant::is({mutant['id']})"

    def children(self, node, start=None):
        out, position = "", node.start_byte if start is None else start
        for child in node.children:
            if child.start_byte >= position:
                out += self.text(position, child.start_byte) + self.render(child)
                position = child.end_byte
        return out + self.text(position, node.end_byte)

    def render(self, node):
        if node.type == "token_tree" or not node.children:
            return self.text(node.start_byte, node.end_byte)
        special = {
            "binary_expression": self.binary,
            "compound_assignment_expr": self.assignment,
            "unary_expression": self.unary,
            "match_arm": self.arm,
            "struct_expression": self.structure,
            "function_item": self.function,
        }.get(node.type)
        return (special and special(node)) or self.children(node)

    def sides(self, node):
        operator = node.child_by_field_name("operator")
        sides = [self.render(node.child_by_field_name(side)) for side in ("left", "right")]
        return (*sides, self.text(operator.start_byte, operator.end_byte), self.found("BinaryOperator", operator.start_byte))

    def binary(self, node):
        left, right, operator, mutants = self.sides(node)
        if not mutants:
            return None
        if operator in ("&&", "||"):
            self.placed.add(mutants[0]["id"])
            name = "and" if operator == "&&" else "or"
            return f"crate::mutant::{name}({mutants[0]['id']}, {left}, || {right})"
        other = "".join(f"if {self.switch(m)} {{ ({left}) {m['text']} ({right}) }} else " for m in mutants)
        return f"({other}{{ ({left}) {operator} ({right}) }})"

    def assignment(self, node):
        left, right, operator, mutants = self.sides(node)
        other = "".join(f"if {self.switch(m)} {{ {left} {m['text']} {right}; }} else " for m in mutants)
        return f"{other}{{ {left} {operator} {right}; }}" if mutants else None

    def unary(self, node):
        mutants = self.found("UnaryOperator", node.start_byte)
        return f"({self.switch(mutants[0])} ^ {self.children(node)})" if mutants else None

    def arm(self, node):
        pattern = node.child_by_field_name("pattern")
        guard = pattern.child_by_field_name("condition")
        gone = self.found("MatchArm", node.start_byte)
        fixed = self.found("MatchArmGuard", guard.start_byte) if guard else []
        if not gone and not fixed:
            return None
        head = self.text(node.start_byte, guard.start_byte if guard else pattern.end_byte).rstrip()
        head = head.removesuffix("if").rstrip() if guard else head
        condition = self.render(guard) if guard else "true"
        for mutant in fixed:
            true = "with true" in mutant["name"]
            switch = self.switch(mutant)
            condition = f"({switch} || ({condition}))" if true else f"(!{switch} && ({condition}))"
        for mutant in gone:
            condition = f"!{self.switch(mutant)} && ({condition})"
        return f"{head} if {condition}{self.children(node, pattern.end_byte)}"

    def structure(self, node):
        out = self.children(node)
        whole = out
        for field in node.child_by_field_name("body").children:
            for mutant in self.found("StructField", field.start_byte):
                end = re.compile(rb"\s*,?").match(self.bytes, field.end_byte).end()
                without = self.text(node.start_byte, field.start_byte) + self.text(end, node.end_byte)
                out = f"if {self.switch(mutant)} {{ {without} }} else {{ {out} }}"
        return f"({out})" if out != whole else None

    def function(self, node):
        body = node.child_by_field_name("body")
        mine = [m for start, end, m in self.functions if body.start_byte <= start and end <= body.end_byte]
        # An iterator's replacement has another type than the body: only `cargo mutants` itself can try it.
        mine = [m for m in mine if "impl Iterator" not in m["name"]]
        if not mine:
            return None
        early = "".join(f"\nif {self.switch(m)} {{ return {m['text']}; }}\n" for m in mine)
        return self.text(node.start_byte, body.start_byte) + "{" + early + self.render(body)[1:]


def place(mutants):
    """Writes the copy with these mutants in it; comes back with the ids placed."""
    placed = set()
    for path in sorted({mutant["file"] for mutant in mutants}):
        file = File(path, [mutant for mutant in mutants if mutant["file"] == path])
        (COPY / path).write_text(file.source())
        placed |= file.placed
    library = CRATE / "src/lib.rs"
    (COPY / library).write_text((ROOT / library).read_text() + SWITCH)
    return placed


def cargo(*words):
    # A folder of its own: the tree's usual one would take the copy's programs for its own.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(WORK / "build")}
    command = ["cargo", *words, "--message-format=json"]
    run = subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True)
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def culprits(messages):
    """The mutants whose lines the compiler complains about."""
    ids = set()
    for message in messages:
        message = message.get("message") or {}
        for span in message.get("spans", []) if message.get("level") == "error" else []:
            lines = (COPY / span["file_name"]).read_text().split("\n")[span["line_start"] - 1 : span["line_end"]]
            early = re.search(r"is\((\d+)\) \{ return", "\n".join(lines))
            before = re.findall(r"mutant::\w+\((\d+)", lines[0][: span["column_start"] - 1])
            inside = re.findall(r"mutant::\w+\((\d+)", "\n".join(lines))
            if span["is_primary"]:
                ids |= {int(id) for id in ([early[1]] if early else before[-1:] or inside[:1])}
    return ids


def built(mutants):
    """The copy, compiled: the test programs, and the mutants that are in them."""
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT, COPY, ignore=shutil.ignore_patterns("target", ".git", ".venv", "node_modules"))
    unviable = set()
    while True:
        placed = place([mutant for mutant in mutants if mutant["id"] not in unviable])
        code, messages = cargo("check", "-p", "decide")
        if code == 0:
            break
        found = culprits(messages)
        if not found:
            sys.exit("does not compile, and no mutant is to blame:\n" + "\n".join(
                message["message"]["rendered"] for message in messages if message.get("message")
            ))
        unviable |= found
    code, messages = cargo("test", "-p", "decide", "--test", "gate", "--lib", "--no-run")
    programs = []
    for message in messages:
        if message.get("executable") and message["profile"]["test"]:
            program = COPY / f"test-{len(programs)}"
            shutil.copy(message["executable"], program)
            programs.append(program)
    if code or len(programs) != 2:
        sys.exit(f"cargo test came back with {code} and {len(programs)} programs")
    return programs, placed, unviable


def passes(program, number, without):
    """Whether all tests pass with this mutant; nothing when they take too long."""
    place = {"CARGO_MANIFEST_DIR": str(COPY / CRATE), "INSTA_WORKSPACE_ROOT": str(COPY), "INSTA_UPDATE": "no"}
    environment = {**os.environ, **place, "MUTANT": str(number), "RUST_BACKTRACE": "0"}
    command = [str(program), *(word for name in without for word in ("--skip", name))]
    run = subprocess.Popen(command, cwd=COPY / CRATE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    os.set_blocking(run.stdout.fileno(), False)
    deadline, seen = time.monotonic() + SECONDS_MAX, b""
    try:
        while time.monotonic() < deadline:
            if not select.select([run.stdout], [], [], 1)[0]:
                continue
            part = run.stdout.read()
            if part == b"":
                return run.wait() == 0
            seen += part or b""
            if b"FAILED" in seen:
                return False
        return None
    finally:
        run.kill()
        run.wait()


def main():
    mutants = listed()
    programs, placed, unviable = built(mutants)
    if not all(passes(program, 0, OTHER_TESTS) for program in programs):
        sys.exit("the tests fail without any mutant")
    wanted = sys.argv[1:]
    counts = {}
    for mutant in mutants:
        if wanted and not any(part in mutant["name"] for part in wanted):
            continue
        if mutant["id"] in unviable:
            outcome = "unviable"
        elif mutant["id"] not in placed:
            outcome = "not placed"
        else:
            rounds = [(program, without) for without in (OTHER_TESTS + SLOW_TESTS, OTHER_TESTS) for program in programs]
            results = (passes(program, mutant["id"], without) for program, without in rounds)
            outcome = next(({False: "caught", None: "timeout"}[r] for r in results if r is not True), "missed")
        counts.setdefault(mutant["file"], {}).setdefault(outcome, []).append(mutant)
        if outcome not in ("caught", "unviable"):
            print(f"{outcome}: {mutant['name']}", flush=True)
    columns = ["caught", "missed", "timeout", "unviable", "not placed"]
    print("| file | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    total = dict.fromkeys(columns, 0)
    for file, outcomes in counts.items():
        numbers = [len(outcomes.get(column, [])) for column in columns]
        total = {column: total[column] + number for column, number in zip(columns, numbers)}
        print(f"| `{file.removeprefix('crates/decide/src/')}` | " + " | ".join(map(str, numbers)) + " |")
    print("| all | " + " | ".join(map(str, total.values())) + " |")
    sys.exit(1 if total["missed"] or total["timeout"] else 0)


main()
