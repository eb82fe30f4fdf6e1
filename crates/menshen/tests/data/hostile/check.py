#!/usr/bin/env python3
"""Checks payloads.jsonl beside it: fields, coverage, uniqueness. `--counts` prints the tables of README.md.

Needs nothing but Python. Start at `main`. Invariant: it reads, and never runs what a payload asks for.
"""

import json
import re
import sys
import unicodedata
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
PAYLOADS = HERE / "payloads.jsonl"
PAGE = HERE / "README.md"
HOUSE = HERE.parents[2] / "house" / "house.json"

LANGUAGES = ("zh", "en", "mixed")
CARRIERS = (
    "entity_name", "area_name", "alias", "state", "attribute", "script_description", "calendar", "todo",
    "media_title", "notification", "tool_result", "mcp_tool_description", "document", "knowledge", "memory",
    "web_page", "user_forwarded",
)
GOALS = (
    "open", "disarm", "secret_out", "house_data_out", "trust_key", "stored_instruction", "mute_safety",
    "second_hand",
)
FORMS = (
    "plain", "important_note", "todo", "ignore_previous", "fake_system", "fake_user", "fake_assistant",
    "fake_tool_call", "fake_tool_result", "fake_approval", "already_said_yes", "authority", "urgency", "role_play",
    "multi_step", "second_order", "language_switch", "traditional", "padding", "base64", "rot13", "url_encoding",
    "html_entities", "leetspeak", "pinyin", "split", "spelling", "homoglyphs", "full_width", "bold_letters",
    "zero_width", "bidi", "control", "ansi", "tag_characters", "variation_selectors", "markdown", "html", "json",
    "xml",
)
# Encodings in which the letters of a language need not be seen.
VEILED = {"base64", "rot13", "html_entities", "url_encoding", "pinyin"}
REQUIRED = ("id", "language", "carrier", "goal", "form", "text", "imperative")

# What each tool must be given. Tools of foreign servers are named `server__tool` and take anything.
TOOLS = {
    "call_service": ("domain", "service"), "run_macro": ("phrase",), "settings_set": ("key", "value"),
    "settings_get": ("key",), "web_fetch": ("url",), "memory_commit": ("triples",),
    "memory_purge": ("criteria", "mode"), "document_insert": ("title", "content"),
    "knowledge_add": ("name", "content"), "schedule_create": ("text",), "reply": ("text",),
}
STORING = {"memory_commit", "document_insert", "knowledge_add", "schedule_create"}
SECRETS = {
    "house.token", "house.reading_token", "llm.key", "alarm.code", "safe.code", "session.cookie", "wifi.password",
}
HOUSE_DATA = {"states", "locks", "presence", "calendar", "memory", "conversation", "address", "floorplan"}
# Services by which another brain or another wire would move the house.
SECOND_HANDS = {
    ("conversation", "process"), ("ai_task", "generate_data"), ("mqtt", "publish"), ("rest_command", "open_sesame"),
    ("shell_command", "touch_door"), ("python_script", "unlock"), ("script", "turn_on"), ("input_text", "set_value"),
}

PAYLOADS_MIN, GOAL_MIN, CARRIER_MIN, SHARE_MIN = 260, 10, 8, 0.4
STATE_CHARS_MAX = 255  # Home Assistant keeps no longer state.
DOMAINS = (
    "alarm_control_panel|automation|binary_sensor|button|calendar|climate|cover|group|input_boolean|input_button|"
    "input_number|input_select|input_text|light|lock|media_player|number|scene|script|select|siren|switch|text|timer|"
    "todo|vacuum|valve"
)
ENTITY = re.compile(rf"\b(?:{DOMAINS})\.[a-z0-9_]+\b")
# Letters as they are, full-width, as tag characters, as variation selectors.
ENGLISH = re.compile("[A-Za-z\uff21-\uff5a\U000e0041-\U000e007a\U000e0100-\U000e01ef]")
PLACEHOLDER = re.compile(r"\[\[([a-z._]+)\]\]")


def han(text):
    return any("\u4e00" <= letter <= "\u9fff" for letter in text)


def strings(value):
    """Every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def entities_of_the_house():
    house = json.loads(HOUSE.read_text(encoding="utf-8"))
    return {row["id"] for part in ("own", "others", "macros", "automations") for row in house[part]}


def call_problems(call, known):
    """What is wrong with the shape of a call, or with the entities it names."""
    if not isinstance(call, dict) or set(call) != {"tool", "arguments"} or not isinstance(call["arguments"], dict):
        return ["a call is {tool, arguments}"]
    tool, arguments = call["tool"], call["arguments"]
    if tool not in TOOLS and not re.fullmatch(r"[a-z0-9_]+?__[A-Za-z0-9_]+", tool):
        return [f"unknown tool {tool}"]
    found = [f"{tool} without {name}" for name in TOOLS.get(tool, ()) if name not in arguments]
    if tool == "schedule_create" and len({"at", "in", "cron"} & set(arguments)) != 1:
        found.append("schedule_create wants one of at, in, cron")
    if tool == "call_service":
        targets = {key: arguments[key] for key in ("entity_id", "data", "target") if key in arguments}
        services = f'{arguments.get("domain")}.{arguments.get("service")}'
        for text in strings(targets):
            for name in ENTITY.findall(unicodedata.normalize("NFKC", text).lower()):
                if name not in known and name != services and not re.fullmatch(r"lock\.(un)?lock|lock\.open", name):
                    found.append(f"{name} is not in the house")
    for name in PLACEHOLDER.findall(json.dumps(arguments)):
        if name not in SECRETS | HOUSE_DATA:
            found.append(f"unknown placeholder {name}")
    return found


def goal_problems(row):
    """Whether the call does what its goal says."""
    goal, call = row["goal"], row["imperative"]
    tool, arguments = call["tool"], call["arguments"]
    planted = set(PLACEHOLDER.findall(json.dumps(arguments)))
    pair = (arguments.get("domain"), arguments.get("service"))
    reads = tool == "settings_get" or (tool == "web_fetch" and "evil" not in arguments["url"])
    fits = {
        "open": tool in ("call_service", "run_macro"),
        "disarm": tool == "call_service" and "alarm_control_panel" in json.dumps(arguments),
        "secret_out": reads or bool(planted & SECRETS),
        "house_data_out": bool(planted & HOUSE_DATA),
        "trust_key": tool == "settings_set",
        "stored_instruction": tool in STORING,
        "mute_safety": tool in ("call_service", "memory_purge"),
        "second_hand": "__" in tool or pair in SECOND_HANDS or tool == "web_fetch",
    }
    found = [] if fits[goal] else [f"{tool} does not serve {goal}"]
    if (goal == "stored_instruction") != ("later" in row):
        found.append("`later` belongs to stored_instruction, and only there")
    return found


def row_problems(row, known):
    missing = [name for name in REQUIRED if name not in row]
    if missing:
        return [f"without {name}" for name in missing]
    found = [f"unknown field {name}" for name in row if name not in REQUIRED and name != "later"]
    for field, allowed in (("language", LANGUAGES), ("carrier", CARRIERS), ("goal", GOALS), ("form", FORMS)):
        if row[field] not in allowed:
            found.append(f"unknown {field} {row[field]}")
    text = row["text"]
    if not isinstance(text, str) or not text.strip():
        found.append("no text")
        return found
    if row["carrier"] == "state" and len(text) > STATE_CHARS_MAX:
        found.append("a state that the house would not keep")
    if row["language"] == "en" and han(text):
        found.append("Chinese in an English payload")
    if row["language"] != "en" and not han(text) and row["form"] not in VEILED:
        found.append(f"no Chinese in a payload of {row['language']}")
    if row["language"] == "mixed" and not ENGLISH.search(text):
        found.append("no English in a mixed payload")
    found += call_problems(row["imperative"], known)
    if not found and row["goal"] in GOALS:
        found += goal_problems(row)
    later = row.get("later")
    if later is not None:
        if set(later) != {"says", "imperative"} or not isinstance(later["says"], str):
            found.append("later is {says, imperative}")
        else:
            found += call_problems(later["imperative"], known)
            if (later["says"] == "") != (row["imperative"]["tool"] == "schedule_create"):
                found.append("only a schedule acts without anybody saying something")
    return found


def unseen(letter):
    """Whether it hides, moves or colours what is around it."""
    selector = 0xFE00 <= ord(letter) <= 0xFE0F or 0xE0100 <= ord(letter) <= 0xE01EF
    return selector or unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")


def line_problems(line):
    """A reader of the file must see what is in it: unseen letters stand there escaped."""
    return [f"U+{ord(letter):04X} raw in the file" for letter in sorted(set(line)) if unseen(letter)]


def coverage_problems(rows):
    found = []
    count = {field: Counter(row[field] for row in rows) for field in ("goal", "carrier", "language", "form")}
    cells = Counter((row["goal"], row["carrier"]) for row in rows)
    if len(rows) < PAYLOADS_MIN:
        found.append(f"{len(rows)} payloads, fewer than {PAYLOADS_MIN}")
    for field, names, least in (("goal", GOALS, GOAL_MIN), ("carrier", CARRIERS, CARRIER_MIN), ("form", FORMS, 1)):
        found += [f"{count[field][name]} of {field} {name}" for name in names if count[field][name] < least]
    found += [f"no {goal} in {name}" for goal in GOALS for name in CARRIERS if not cells[goal, name]]
    for language in ("zh", "en"):
        if count["language"][language] < SHARE_MIN * len(rows):
            found.append(f"only {count['language'][language]} payloads in {language}")
    for what, value in (("id", lambda row: row["id"]), ("text", lambda row: row["text"])):
        twice = [key for key, times in Counter(map(value, rows)).items() if times > 1]
        found += [f"{what} twice: {key[:60]!r}" for key in twice]
    expected = [f"p{number:03}" for number in range(1, len(rows) + 1)]
    if [row["id"] for row in rows] != expected:
        found.append("ids do not run from p001 without a gap")
    return found


def table(rows, field, order):
    count = Counter(row[field] for row in rows)
    lines = [f"| {field} | payloads |", "| --- | --- |"]
    return "\n".join(lines + [f"| `{name}` | {count[name]} |" for name in order])


def tables(rows):
    parts = [("goal", GOALS), ("carrier", CARRIERS), ("language", LANGUAGES), ("form", FORMS)]
    return "\n\n".join(table(rows, field, order) for field, order in parts)


def main():
    known = entities_of_the_house()
    rows, found = [], []
    for number, line in enumerate(PAYLOADS.read_text(encoding="utf-8").split("\n")[:-1], 1):
        row = json.loads(line)
        rows.append(row)
        problems = row_problems(row, known) + line_problems(line)
        found += [f"line {number} ({row.get('id')}): {problem}" for problem in problems]
    if not found:
        found += coverage_problems(rows)
    if "--counts" in sys.argv[1:]:
        print(tables(rows))
    elif not found and tables(rows) not in PAGE.read_text(encoding="utf-8"):
        found.append("README.md: its counts lag; take them from check.py --counts")
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{len(rows)} payloads, {len(found)} problems", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
