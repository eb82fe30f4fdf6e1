#!/usr/bin/env python3
"""Checks the facts and the questions of this folder, and prints how many there are.

Needs nothing but Python 3. Ends with 1 and says where if something is not as README.md promises.
"""
import collections
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
FROM, TO = 1735660800, 1793462400  # 2025-01-01 and 2026-11-01, both at midnight, UTC+8
LANGUAGES = {"zh", "en"}
KINDS = ("exact", "paraphrase", "time", "contradiction", "deletion", "unknown")
FACT = {"id", "language", "text", "subject", "relation", "object", "at", "source"}
QUESTION = {"id", "language", "kind", "question", "expects", "rejects"}
# What happens again and again: many facts of one matter, all of them true.
EVENTS = {
    "掉牙", "体检结果", "住院", "维修", "看兽医", "看的电影", "来的客人", "出游", "修车", "考试成绩", "得奖",
    "买的大件", "生病", "电表读数", "燃气表读数", "lost tooth", "repair", "vaccination", "vet visit",
    "guest to stay", "trip", "match result", "garage work", "birthday party", "illness", "purchase",
    "film seen", "letter", "electricity reading", "gas reading",
}
wrong = []


def check(good, where, what):
    if not good:
        wrong.append(f"{where}: {what}")
    return good


def read(name):
    rows = []
    for number, line in enumerate((HERE / name).read_text(encoding="utf-8").splitlines(), 1):
        try:
            rows.append((f"{name}:{number}", json.loads(line)))
        except ValueError as error:
            wrong.append(f"{name}:{number}: {error}")
    return rows


def facts():
    known, texts, replaced = {}, set(), {}
    for where, fact in read("facts.jsonl"):
        if not check(FACT <= set(fact) <= FACT | {"replaces", "forgotten"}, where, "fields"):
            continue
        check(fact["id"] not in known, where, f"{fact['id']} is there twice")
        check(fact["text"] not in texts, where, "the same sentence is there twice")
        check(fact["language"] in LANGUAGES, where, "language")
        check(FROM <= fact["at"] < TO, where, "told outside of the two years")
        check(fact["object"] in fact["text"], where, "the sentence does not say its object")
        check(fact.get("forgotten", True) is True, where, "forgotten is true or not there")
        known[fact["id"]] = fact
        texts.add(fact["text"])
        if "replaces" in fact:
            old = known.get(fact["replaces"])
            if check(old, where, "replaces a fact that is not told before it"):
                same = (old["subject"], old["relation"]) == (fact["subject"], fact["relation"])
                check(same and old["at"] < fact["at"], where, "replaces another matter, or a newer one")
                check(old["id"] not in replaced, where, f"{old['id']} is replaced twice")
                check(not old.get("forgotten"), where, "replaces a forgotten fact")
                replaced[old["id"]] = fact["id"]
    alive = collections.Counter(
        (fact["subject"], fact["relation"])
        for fact in known.values()
        if fact["id"] not in replaced and not fact.get("forgotten") and fact["relation"] not in EVENTS
    )
    for matter, number in alive.items():
        check(number == 1, "facts.jsonl", f"{matter} has {number} facts that all hold")
    return known, replaced


def older(fact, known):
    while "replaces" in fact:
        fact = known[fact["replaces"]]
        yield fact["id"]


def questions(name, known, replaced, ids, asked):
    counts = collections.Counter()
    for where, question in read(name):
        if not check(QUESTION <= set(question) <= QUESTION | {"at"}, where, "fields"):
            continue
        kind, expects, rejects = question["kind"], question["expects"], question["rejects"]
        check(question["id"] not in ids, where, f"{question['id']} is there twice")
        check(question["question"] not in asked, where, "the same question is there twice")
        ids.add(question["id"])
        asked.add(question["question"])
        check(kind in KINDS, where, "kind")
        check(question["language"] in LANGUAGES, where, "language")
        check(bool(expects) == (kind not in ("deletion", "unknown")), where, "expects")
        check(not set(expects) & set(rejects), where, "expects and rejects the same fact")
        for fact in [*expects, *rejects]:
            check(fact in known, where, f"{fact} is no fact")
        for fact in expects:
            check(fact not in replaced, where, f"expects {fact}, which is replaced")
            check(not known.get(fact, {}).get("forgotten"), where, f"expects {fact}, which is forgotten")
        if kind == "contradiction":
            old = {fact for new in expects if new in known for fact in older(known[new], known)}
            check(old and old <= set(rejects), where, "does not reject what was replaced")
        if kind == "deletion":
            gone = rejects and all(known.get(fact, {}).get("forgotten") for fact in rejects)
            check(gone, where, "rejects what is not forgotten")
        if check(("at" in question) == (kind == "time"), where, "at") and kind == "time":
            span = range(question["at"]["from"], question["at"]["to"])
            check(all(known[fact]["at"] in span for fact in expects if fact in known), where, "expects outside of at")
            check(not any(known[fact]["at"] in span for fact in rejects if fact in known), where, "rejects inside of at")
        counts[kind, question["language"]] += 1
    return counts


def main():
    known, replaced = facts()
    languages = collections.Counter(fact["language"] for fact in known.values())
    forgotten = sum(1 for fact in known.values() if fact.get("forgotten"))
    check(len(known) >= 2000, "facts.jsonl", "fewer than 2000")
    check(len(replaced) >= 120, "facts.jsonl", "fewer than 120 replaced")
    check(forgotten >= 60, "facts.jsonl", "fewer than 60 forgotten")
    print(f"facts {len(known)}: zh {languages['zh']}, en {languages['en']}; replaced {len(replaced)}, forgotten {forgotten}")
    ids, asked = set(), set()
    for name in ("questions-open.jsonl", "questions-sealed.jsonl"):
        counts = questions(name, known, replaced, ids, asked)
        total = sum(counts.values())
        check(total >= 240, name, "fewer than 240")
        print(f"{name} {total}")
        for kind in KINDS:
            zh, en = counts[kind, "zh"], counts[kind, "en"]
            check(zh + en >= 35, name, f"fewer than 35 of kind {kind}")
            print(f"  {kind:13} {zh + en:4}: zh {zh}, en {en}")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
