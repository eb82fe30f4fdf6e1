#!/usr/bin/env python3
"""launch.py SPEC.json: run one Home Assistant so that nothing of it can be reached but by loopback.

The launcher listens on 127.0.0.1:PORT of the machine, then moves itself into a network namespace
that has only loopback and starts the child there; what comes in is passed to the same port inside.
Works as root and, where the machine allows user namespaces, without. Where neither is allowed the
child runs on the machine's network, bound to 127.0.0.1, and the report says so.

It outlives whoever started it, ends the child when told to stop (SIGTERM), restarts it when Home
Assistant asks for that (exit code 100), and the child cannot outlive it.
"""

import asyncio
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys

NEWNS, NEWUSER, NEWNET = 0x00020000, 0x10000000, 0x40000000
RESTART = 100
STOP_SECS = 20
libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class Route(ctypes.Structure):
    """struct rtentry of <net/route.h>."""

    _fields_ = [
        ("pad1", ctypes.c_ulong), ("dst", ctypes.c_ubyte * 16), ("gateway", ctypes.c_ubyte * 16),
        ("genmask", ctypes.c_ubyte * 16), ("flags", ctypes.c_ushort), ("pad2", ctypes.c_short),
        ("pad3", ctypes.c_ulong), ("pad4", ctypes.c_void_p), ("metric", ctypes.c_short),
        ("dev", ctypes.c_char_p), ("mtu", ctypes.c_ulong), ("window", ctypes.c_ulong),
        ("irtt", ctypes.c_ushort),
    ]


def address(text):
    raw = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(text))
    return (ctypes.c_ubyte * 16)(*raw)


def loopback_up():
    """lo up, able to multicast, with a route for it: Home Assistant's mDNS resolver joins a group
    and every HTTP client of its fails with `No such device` where it cannot."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        up_running_multicast = 0x1 | 0x40 | 0x1000
        fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", up_running_multicast))  # SIOCSIFFLAGS
        up = 0x1
        route = Route(dst=address("224.0.0.0"), genmask=address("240.0.0.0"), gateway=address("0.0.0.0"), flags=up, dev=b"lo")
        check(libc.ioctl(s.fileno(), ctypes.c_ulong(0x890B), ctypes.byref(route)))  # SIOCADDRT
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
            # struct in6_rtmsg: dst, src, gateway, type, dst_len, src_len, metric, info, flags, ifindex
            group = socket.inet_pton(socket.AF_INET6, "ff00::") + bytes(32)
            message = group + struct.pack("=IHHI4xQIi", 0, 8, 0, 1, 0, 0x1, socket.if_nametoindex("lo"))
            fcntl.ioctl(s, 0x890B, message)
    except OSError:
        pass  # no IPv6 here, or the kernel has made the route already


def enter(user):
    """Into a network namespace of its own, made through a user namespace when `user`."""
    uid, gid = os.getuid(), os.getgid()
    check(libc.unshare(NEWNET | (NEWUSER if user else 0)))
    if user:
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{uid} {uid} 1")
        write("/proc/self/gid_map", f"{gid} {gid} 1")
    loopback_up()


def possible(user):
    """Try it in a child first, so that a half-made namespace is never lived in."""
    pid = os.fork()
    if pid == 0:
        try:
            enter(user)
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def isolate():
    for user, name in ((False, "network namespace"), (True, "user and network namespace")):
        if possible(user):
            enter(user)
            return name
    return None


def bind(source, target):
    """Show `source` at `target`, in a mount namespace of this process alone."""
    private_recursive, bind_mount = (1 << 18) | 16384, 4096
    check(libc.unshare(NEWNS))
    try:
        check(libc.mount(b"none", b"/", None, private_recursive, None))
    except OSError as error:
        raise SystemExit(f"/ cannot be made private ({error}): in a bare chroot, bind its folder onto itself first") from error
    os.makedirs(target, exist_ok=True)
    check(libc.mount(source.encode(), target.encode(), None, bind_mount, None))


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        try:
            writer.close()
        except OSError:
            pass


def bridge(port):
    async def accepted(reader, writer):
        try:
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer))

    return accepted


async def end(child):
    """Stop the child and all it started."""
    for name, seconds in ((signal.SIGTERM, STOP_SECS), (signal.SIGKILL, 5)):
        try:
            os.killpg(child.pid, name)
        except ProcessLookupError:
            return
        try:
            await asyncio.wait_for(child.wait(), seconds)
        except asyncio.TimeoutError:
            continue
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


async def run(spec, listener, isolation):
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    if listener is not None:
        await asyncio.start_server(bridge(spec["port"]), sock=listener)

    def prepare():
        os.setpgid(0, 0)
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: die with the launcher
        if spec.get("root"):
            os.chroot(spec["root"])
            os.chdir("/")

    while True:
        child = await asyncio.create_subprocess_exec(
            *spec["command"], env=spec["environment"], preexec_fn=prepare
        )
        report = {"launcher": os.getpid(), "child": child.pid, "isolation": isolation}
        write(spec["report"] + ".new", json.dumps(report))
        os.replace(spec["report"] + ".new", spec["report"])
        done = {asyncio.ensure_future(child.wait()), asyncio.ensure_future(stop.wait())}
        await asyncio.wait(done, return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            await end(child)
            return 0
        if child.returncode != RESTART:
            return child.returncode


def main():
    with open(sys.argv[1]) as file:
        spec = json.load(file)
    if os.getpid() != os.getsid(0):
        os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # The protocol is named because asyncio switches Nagle's algorithm off only where it is: without
    # that, every second message of the house waits 40 ms for an acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", spec["port"]))
    isolation = isolate()
    if isolation is None:
        listener.close()  # the child takes the port itself
        listener = None
    if spec.get("bind"):
        bind(*spec["bind"])
    sys.exit(asyncio.run(run(spec, listener, isolation)))


main()
