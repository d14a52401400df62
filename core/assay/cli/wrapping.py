"""`assay wrap`: consolidate what was recorded, in one command or step by step."""

from __future__ import annotations

import os
import shlex
import subprocess
from argparse import ArgumentParser
from functools import partial

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import NO, YES, Reply, as_json
from assay.errors import AssayError
from assay.model.episode import JsonValue
from assay.model.finding import Finding
from assay.model.wrap import WrapPackage, WrapResult, WrapStatus

__all__ = ["add"]

# Episodes that make a wrap due when `--due` names no number; the same as in `assay.session.WrapPolicy`.
_DUE = 40
_REFUSED = frozenset((WrapStatus.REFUSED, WrapStatus.BUSY, WrapStatus.NO_AUTHORITY))


class ComposerFailed(AssayError):
    """The command that should have composed the document failed."""

    code = "compose-failed"


def add(grammar: Grammar) -> None:
    """Add the commands."""
    wrap = grammar.group("wrap", "consolidate what was recorded; without --command, offline", _run)
    _run_options(wrap.parser)
    _run_options(wrap.command("run", _run, "prepare, compose, check and commit"))

    prepare = wrap.command("prepare", _prepare, "freeze a window and print the prompt and the token of the wrap")
    prepare.add_argument("--take", choices=["oldest", "important"], default="oldest", help="when not all episodes fit")
    prepare.add_argument("--max-tokens", type=int, metavar="N", help="a smaller target for the document")

    save = wrap.command("save", _save, "check a rewritten document and commit what it earned")
    save.add_argument("file", help="the document; - reads standard input")
    save.add_argument("--token", help="of the wrap; may be left out by the session that prepared it")
    mode = save.add_mutually_exclusive_group()
    mode.add_argument(
        "--dry-run", dest="mode", action="store_const", const="dry_run", default="apply", help="write nothing"
    )
    mode.add_argument(
        "--retry", dest="mode", action="store_const", const="retry", help="refuse what another text could mend"
    )
    save.add_argument("--composer", default="", metavar="NAME", help="who wrote it")
    save.add_argument(
        "--allow-shrink", action="store_true", help="accept, once, that sections lose most of their content"
    )

    cancel = wrap.command("cancel", _cancel, "cancel the open wrap; its episodes wait for the next")
    cancel.add_argument("--token", help="of the wrap; needless for the session that prepared it")
    cancel.add_argument("--force", action="store_true", help="whoever prepared it")
    wrap.command("status", _status, "say what waits, and whether a wrap is open")


def _run_options(parser: ArgumentParser) -> None:
    parser.add_argument("--command", metavar="CMD", help="reads the prompt on standard input and prints the document")
    parser.add_argument(
        "--due", type=int, nargs="?", const=_DUE, metavar="N", help=f"only when N episodes wait ({_DUE})"
    )
    parser.add_argument("--retries", type=int, metavar="N", help="how often findings go back to the command")


def _run(call: Call) -> Reply:
    options = call.options
    with call.writing() as store:
        if options.due is not None:
            pending = store.status().pending
            if pending < options.due:
                message = f"{pending} episodes wait; a wrap is due at {options.due}"
                return _replied(WrapResult(WrapStatus.NOT_DUE, remaining=pending, message=message))
        composer = partial(_compose, options.command) if options.command else None
        return _replied(store.wrap(composer, retries=options.retries))


def _compose(command: str, prompt: str) -> str:
    """Let a command turn the prompt on its standard input into the document on its standard output."""
    done = subprocess.run(
        shlex.split(command, posix=os.name == "posix"),
        input=prompt,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise ComposerFailed(f"{command}: exit code {done.returncode}")
    return done.stdout


def _prepare(call: Call) -> Reply:
    with call.writing() as store:
        opened = store.prepare_wrap(take=call.options.take, max_tokens=call.options.max_tokens)
    if isinstance(opened, WrapResult):
        return _replied(opened)
    return Reply(_package(opened), f"{opened.prompt.rstrip()}\n\nWrap token: {opened.token}")


def _package(package: WrapPackage) -> dict[str, JsonValue]:
    return {
        "status": "prepared",
        "token": package.token,
        "wrap": package.wrap,
        "episode_count": package.episode_count,
        "remaining": package.remaining,
        "prompt": package.prompt,
    }


def _save(call: Call) -> Reply:
    options = call.options
    text = call.file(options.file, "file")
    with call.writing() as store:
        result = store.save_continuity(
            text, options.token, mode=options.mode, composer=options.composer, allow_shrink=options.allow_shrink
        )
    return _replied(result)


def _cancel(call: Call) -> Reply:
    with call.writing() as store:
        cancelled = store.continuity.cancel(call.options.token, force=call.options.force)
    return Reply({"cancelled": cancelled}, "cancelled" if cancelled else "no wrap is open", YES if cancelled else NO)


def _status(call: Call) -> Reply:
    with call.reading() as store:
        status = store.status()
    data: dict[str, JsonValue] = {
        "pending": status.pending,
        "open_wrap": status.open_wrap,
        "wraps": status.wraps,
        "requires_baton": status.requires_baton,
        "baton": status.baton,
    }
    opened = f"a wrap is open, by {status.open_wrap}" if status.open_wrap else "no wrap is open"
    return Reply(data, f"{status.pending} episodes wait; {opened}; {status.wraps} wraps so far")


def _replied(result: WrapResult) -> Reply:
    facts = [f"{result.episodes_compressed} episodes"] if result.episodes_compressed else []
    if result.version is not None:
        facts.append(f"version {result.version}")
    if result.remaining:
        facts.append(f"{result.remaining} wait")
    joined = ", ".join(facts)
    lines = [f"{result.status.value}{f': {joined}' if joined else ''}"]
    lines += [f"raised: {', '.join(result.raised)}"] if result.raised else []
    lines += [_line(finding) for finding in result.findings]
    lines += [result.message] if result.message and not result.findings else []  # it repeats what they say
    return Reply({"result": as_json(result)}, "\n".join(lines), NO if result.status in _REFUSED else YES)


def _line(finding: Finding) -> str:
    place = f"line {finding.line}: " if finding.line else ""
    fix = f" ({finding.fix})" if finding.fix else ""
    return f"{finding.action.value} {finding.rule}: {place}{finding.message}{fix}"
