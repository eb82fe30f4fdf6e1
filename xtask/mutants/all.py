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

from place import SWITCH, File

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "mutants"
COPY = WORK / "tree"
CRATE = Path("crates/decide")
FILES = ["crates/decide/src/gate.rs", "crates/decide/src/gate/**/*.rs"]
OTHER_TESTS = ["macros::", "text::", "commands::", "intents::", "properties::"]
# These take long and seldom catch what the tables let through, so they run last.
SLOW_TESTS = ["attacks::", "matrix::", "honest::"]
SECONDS_MAX = 60


def listed():
    """The mutants of `cargo mutants`, numbered from one."""
    files = [word for pattern in FILES for word in ("-f", pattern)]
    command = ["cargo", "mutants", "--list", "--json", "--diff", "-p", "decide", *files]
    mutants = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    for number, mutant in enumerate(mutants, 1):
        mutant["id"] = number
        mutant["text"] = mutant["replacement"].replace("/* ~ changed by cargo-mutants ~ */", "").strip()
    return mutants


def place(mutants):
    """Writes the copy with these mutants in it; comes back with the ids placed."""
    placed = set()
    for path in sorted({mutant["file"] for mutant in mutants}):
        file = File((ROOT / path).read_bytes(), [mutant for mutant in mutants if mutant["file"] == path])
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
