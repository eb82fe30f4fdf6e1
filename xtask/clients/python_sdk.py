"""The official Python SDK against `menshen mcp`: python_sdk.py PROGRAM

The same checks as checks.mjs, with the README's own client configuration. The house is asked over a
second connection, so that the program under test is not its own witness.
"""
import asyncio
import json
import os
import pathlib
import re
import sys
import time
import urllib.request

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

TOOLS = ["call_service", "home_overview", "list_entities", "list_macros", "preview_macro", "run_macro"]
REQUEST_SECS = 10
LOCKED_SECS = 30
STAYS_SECS = 5


def configuration(program):
    """The README's JSON, with the program and the house of this run in it."""
    readme = pathlib.Path(__file__, "..", "..", "..", "README.md").resolve().read_text(encoding="utf-8")
    block = next(b for b in re.findall(r"```json\n(.*?)```", readme, re.S) if "mcpServers" in b)
    server = next(iter(json.loads(block)["mcpServers"].values()))
    assert server["command"] == "menshen", server["command"]
    env = {key: os.environ.get(key, "") for key in server["env"]}
    return StdioServerParameters(command=program, args=server["args"], env=env)


def house(path):
    request = urllib.request.Request(
        f"{os.environ['HOME_ASSISTANT_URL']}/api/{path}",
        headers={"Authorization": f"Bearer {os.environ['HOME_ASSISTANT_TOKEN']}"},
    )
    with urllib.request.urlopen(request, timeout=REQUEST_SECS) as answer:
        return json.load(answer)


def state(entity_id):
    return house(f"states/{entity_id}")["state"]


def a_lock():
    locks = sorted(e["entity_id"] for e in house("states") if e["entity_id"].startswith("lock."))
    return "lock.front_door" if "lock.front_door" in locks else locks[0]


async def reaches(entity_id, wanted, within):
    deadline = time.monotonic() + within
    while state(entity_id) != wanted:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.1)  # until the deadline
    return True


async def stays(entity_id, wanted, during):
    deadline = time.monotonic() + during
    while time.monotonic() < deadline:
        if state(entity_id) != wanted:
            return False
        await asyncio.sleep(0.1)  # until the deadline
    return True


class Checks:
    hold = 0
    fail = 0

    def check(self, sentence, holds, seen):
        self.hold += bool(holds)
        self.fail += not holds
        print(f"sdk-python: {'holds' if holds else 'does NOT hold'}: {sentence}", flush=True)
        if not holds:
            print(f"  seen: {seen}", flush=True)


async def conversation(session, checks):
    async def call(name, arguments):
        answer = await session.call_tool(name, arguments)
        structured = getattr(answer, "structured_content", None) or getattr(answer, "structuredContent", None)
        return structured or json.loads(answer.content[0].text)

    await session.initialize()
    lock = a_lock()
    names = sorted(tool.name for tool in (await session.list_tools()).tools)
    checks.check("the six tools are offered", names == TOOLS, names)
    overview = await call("home_overview", {})
    checks.check("home_overview names rooms", bool(overview.get("rooms")), overview)
    locking = await call("call_service", {"domain": "lock", "service": "lock", "entity_id": lock})
    locked = await reaches(lock, "locked", LOCKED_SECS)
    checks.check("locking is not held back", locking.get("ok") is True and locked, locking)
    refused = await call("call_service", {"domain": "lock", "service": "unlock", "entity_id": lock})
    shape = (refused.get("ok"), refused.get("refused"), refused.get("error")) == (False, True, "needs_confirmation")
    checks.check("unlocking is refused and says so", shape and lock in refused.get("targets", []), refused)
    checks.check("the lock has not moved", await stays(lock, "locked", STAYS_SECS), state(lock))


async def main():
    checks = Checks()
    try:
        async with stdio_client(configuration(sys.argv[1])) as (read, write):
            async with ClientSession(read, write) as session:
                await conversation(session, checks)
    except BaseException as error:  # the groups of anyio are no Exception
        checks.check("the conversation comes to its end", False, repr(error))
    print(f"sdk-python: {checks.hold} checks hold, {checks.fail} do not")
    return 1 if checks.fail else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
