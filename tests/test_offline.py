"""The guard of conftest.py holds, here and in the processes that tests start."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

# Reserved for documentation by RFC 5737: nothing answers there.
ELSEWHERE = "192.0.2.1"


def test_a_connection_to_another_host_is_refused() -> None:
    with socket.socket() as client, pytest.raises(RuntimeError, match="without a network"):
        client.connect((ELSEWHERE, 80))


def test_a_name_is_not_looked_up() -> None:
    with pytest.raises(RuntimeError, match="without a network"):
        socket.getaddrinfo("assay.invalid", 443)


def test_a_started_process_is_refused_as_well() -> None:
    code = f"import socket; socket.socket().connect(({ELSEWHERE!r}, 80))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "NetworkForbidden" in done.stderr


def test_the_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()
