"""Runs the gate's tests against every mutant that `cargo mutants` lists, in one build.

Compiling each mutant by itself takes hours for the whole gate. Here all of them stand in one copy of
the tree, each behind a switch (the environment variable MUTANT), so that one build serves them all.
Start at main(). Invariant: the mutants are those of `cargo mutants --list`, and one that could not be
placed so is run by `cargo mutants` itself; nothing is left out in silence.

    python -m venv .venv && .venv/bin/pip install -r xtask/mutants/requirements.txt
    .venv/bin/python xtask/mutants/all.py [--changed] [--write] [part of a mutant's name ...]
"""

import importlib.util
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import record
from record import ROOT

TOOL = "27.1.0"
WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "mutants"
COPY = WORK / "tree"
CRATE = Path("crates/decide")
OTHER_TESTS = ["macros::", "text::", "commands::", "intents::", "properties::"]
# These take long and seldom catch what the tables let through, so they run last.
SLOW_TESTS = ["attacks::", "matrix::", "honest::"]
SECONDS_MAX = 60


def patterns():
    return [word for path in record.gate() for word in ("-f", path)]


def listed():
    """The mutants of `cargo mutants`, numbered from one."""
    command = ["cargo", "mutants", "--list", "--json", "--diff", "-p", "decide", *patterns()]
    mutants = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    for number, mutant in enumerate(mutants, 1):
        mutant["id"] = number
        mutant["text"] = mutant["replacement"].replace("/* ~ changed by cargo-mutants ~ */", "").strip()
    return mutants


def place(mutants):
    """Writes the copy with these mutants in it; comes back with the ids placed."""
    # Here, because a run that has nothing to do needs no parser.
    from place import SWITCH, File

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
    # With the time of now: another clone built here before, and cargo goes by times.
    ignored = shutil.ignore_patterns("target", ".git", ".venv", "node_modules")
    shutil.copytree(ROOT, COPY, ignore=ignored, copy_function=shutil.copy)
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


def outcome(mutant, programs):
    rounds = [(program, without) for without in (OTHER_TESTS + SLOW_TESTS, OTHER_TESTS) for program in programs]
    results = (passes(program, mutant["id"], without) for program, without in rounds)
    return next(({False: "caught", None: "timed out"}[result] for result in results if result is not True), "missed")


def alone(mutants):
    """What came of mutants that cannot stand beside the others: `cargo mutants` compiles each."""
    out = WORK / "alone"
    shutil.rmtree(out, ignore_errors=True)
    names = [word for mutant in mutants for word in ("-F", f"^{re.escape(mutant['name'])}$")]
    skipped = [word for name in OTHER_TESTS for word in ("--skip", name)]
    command = ["cargo", "mutants", "-p", "decide", *patterns(), *names, "--output", str(out), "--baseline", "skip"]
    command += ["--timeout", str(SECONDS_MAX), "--", "--test", "gate", "--lib", "--", *skipped]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    words = {"CaughtMutant": "caught", "MissedMutant": "missed", "Timeout": "timed out", "Unviable": "unviable"}
    told = json.loads((out / "mutants.out/outcomes.json").read_text())["outcomes"]
    return {one["scenario"]["Mutant"]["name"]: words[one["summary"]] for one in told if one["scenario"] != "Baseline"}


def run(mutants, wanted):
    """What came of each wanted mutant, by file and outcome; all of them are built."""
    programs, placed, unviable = built(mutants)
    if not all(passes(program, 0, OTHER_TESTS) for program in programs):
        sys.exit("the tests fail without any mutant")
    results, unplaced = {}, []
    for mutant in filter(wanted, mutants):
        if mutant["id"] in unviable:
            results[mutant["name"]] = "unviable"
        elif mutant["id"] in placed:
            results[mutant["name"]] = outcome(mutant, programs)
        else:
            unplaced.append(mutant)
    if unplaced:
        results |= alone(unplaced)
    counts = {}
    for mutant in filter(wanted, mutants):
        came = results[mutant["name"]]
        file = counts.setdefault(mutant["file"], dict.fromkeys(record.OUTCOMES, 0))
        file[came] += 1
        if came in ("missed", "timed out"):
            print(f"{came}: {mutant['name']}", flush=True)
    return counts


def lacking():
    """What a run needs and this machine has not."""
    told = subprocess.run(["cargo", "mutants", "--version"], capture_output=True, text=True).stdout
    if told.strip() != f"cargo-mutants {TOOL}":
        return f"`cargo install --locked cargo-mutants@{TOOL}`"
    if not all(importlib.util.find_spec(name) for name in ("tree_sitter", "tree_sitter_rust")):
        return f"`pip install -r xtask/mutants/requirements.txt` for {sys.executable}"
    return None


def main():
    options = {word for word in sys.argv[1:] if word.startswith("--")}
    names = [word for word in sys.argv[1:] if word not in options]
    if options - {"--changed", "--write"} or names and "--write" in options:
        sys.exit("usage: all.py [--changed] [--write], or all.py [--changed] PART-OF-A-NAME...")
    files = record.changed() if "--changed" in options else list(record.gate())
    # A file that nobody touched since its mutants were all caught counts as one check.
    same = len(record.gate()) - len(files)
    print(f"{same} files of the gate are as when all their mutants were caught; to run: {', '.join(files) or 'none'}")
    lack = lacking() if files else None
    if lack:
        print(f"left out: mutants of what changed: needs {lack}")
        # Named, and counted by who asked for what changed; who asked for all wants it to be a failure.
        sys.exit(0 if "--changed" in options else 1)
    mutants = [mutant for mutant in listed() if mutant["file"] in files] if files else []
    counts = run(mutants, lambda mutant: not names or any(part in mutant["name"] for part in names)) if mutants else {}
    if counts:
        print(record.table(counts))
    survived = sum(counts[path][name] for path in counts for name in ("missed", "timed out"))
    held = sum(sum(outcomes.values()) for outcomes in counts.values()) - survived
    print(f"mutants: {same + held} checks hold, {survived} do not")
    if "--write" in options and not survived:
        nothing = {path: {} for path in files}
        record.write(nothing | counts)
    sys.exit(1 if survived else 0)


main()
