"""Forbids the network, the loopback aside, to this process.

Python imports a module of this name at start-up, so a folder on PYTHONPATH also reaches the
processes that a test starts.
"""

from __future__ import annotations

import ipaddress
import sys


class NetworkForbidden(RuntimeError):
    """Raised where something reaches for a host other than this one."""


def is_loopback(host: object) -> bool:
    """Say whether `host`, a name or an address as the socket module takes them, is this machine itself."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name is None or name in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(name).partition("%")[0]).is_loopback
    except ValueError:
        return False


def forbid(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse the events with which the socket module names another host."""
    if event in {"socket.connect", "socket.sendto"}:
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # a path: a socket of this machine
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = arguments[0]
    else:
        return
    if not is_loopback(host):
        raise NetworkForbidden(f"{event} {host!r}: the test-suite passes without a network")


sys.addaudithook(forbid)
