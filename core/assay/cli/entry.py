"""The entry point: parse, run one command, print its reply, and turn every failure into one line."""

from __future__ import annotations

import io
import os
import sys
from argparse import SUPPRESS
from collections.abc import Sequence

from assay.cli import (
    asking,
    audit,
    authority,
    beliefs,
    checking,
    continuity,
    doctor,
    embedding,
    recording,
    setup,
    transfer,
    wrapping,
)
from assay.cli.call import Call
from assay.cli.grammar import Grammar, Parser, Run, UsageError
from assay.cli.reply import NO, UNAVAILABLE, USAGE, YES, Reply, json_text, printable
from assay.errors import AssayError, InvalidInput, MissingUser, StorageFailure

__all__ = ["main", "parser"]

_PIPE_CLOSED = 141  # 128 + SIGPIPE, as a shell reports it
_INTERRUPTED = 130
_EPILOG = """\
exit codes: 0 done; 1 refused, nothing found, or the answer is no; 2 the call is wrong; 3 the store cannot be
read or written. `doctor`: 0 sound, 1 warnings, 2 tampered with, 3 damaged."""


def parser() -> Parser:
    """Build the parser of the whole command."""
    shared = Parser(add_help=False)
    options = shared.add_argument_group("everywhere")
    options.add_argument("--db", metavar="PATH", default=SUPPRESS, help="the store (else ASSAY_DB, else your own)")
    options.add_argument("--session", metavar="ID", default=SUPPRESS, help="the session (else ASSAY_SESSION_ID)")
    options.add_argument("--json", action="store_true", default=SUPPRESS, help="print one JSON document")
    top = Parser(
        prog="assay", description="Memory for agents that has to earn belief.", epilog=_EPILOG, parents=[shared]
    )
    top.add_argument("--version", action="store_true", help="print the version")
    grammar = Grammar(top, shared, required=False)
    told = (setup, recording, asking, wrapping, continuity, beliefs)
    for group in (*told, checking, audit, doctor, transfer, embedding, authority):
        group.add(grammar)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; give its exit code."""
    _speak_utf8()
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in (arguments[: arguments.index("--")] if "--" in arguments else arguments)
    try:
        reply = _run(arguments)
        print(json_text(reply.data) if as_json else printable(reply.text), flush=True)
        return reply.code
    except SystemExit as leaving:  # `--help`
        return leaving.code if isinstance(leaving.code, int) else YES
    except BrokenPipeError:
        # The reader has left: what is still buffered must not fail again at exit (Python documentation, SIGPIPE).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except UsageError as error:
        return _failed("usage", error, USAGE, as_json)
    except (InvalidInput, MissingUser) as error:
        return _failed(error.code, error, USAGE, as_json)
    except StorageFailure as error:
        return _failed(error.code, error, UNAVAILABLE, as_json)
    except AssayError as error:
        return _failed(error.code, error, NO, as_json)
    except OSError as error:
        return _failed("system", error, UNAVAILABLE, as_json)
    except Exception as error:
        if os.environ.get("ASSAY_TRACEBACK"):
            raise
        message = f"{type(error).__name__}: {error}; ASSAY_TRACEBACK=1 shows where: please report it"
        return _failed("internal", RuntimeError(message), UNAVAILABLE, as_json)


def _run(arguments: Sequence[str]) -> Reply:
    top = parser()
    options = top.parse_args(arguments)
    if options.version:
        from importlib.metadata import version

        found = version("assay-memory")
        return Reply({"version": found}, f"assay {found}")
    handler: Run | None = getattr(options, "handler", None)
    if handler is None:
        return Reply({"commands": "see `assay --help`"}, top.format_help().rstrip(), USAGE)
    return handler(Call(options, os.environ, sys.stdin))


def _failed(code: str, error: Exception, status: int, as_json: bool) -> int:
    message = str(error)
    line = json_text({"error": {"code": code, "message": message}}) if as_json else f"error: {code}: {message}"
    print(printable(line.replace("\n", " ")), file=sys.stderr, flush=True)
    return status


def _speak_utf8() -> None:
    """Let the standard streams be UTF-8 on every platform; what cannot be encoded is shown as an escape."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="strict" if stream is sys.stdin else "backslashreplace")
