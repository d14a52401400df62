"""`assay init`: create a store."""

from __future__ import annotations

from pathlib import Path

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import Reply
from assay.errors import Conflict
from assay.model.episode import JsonValue
from assay.model.schema import NAMED_SCHEMAS
from assay.model.settings import POLICIES

__all__ = ["UNPROTECTED", "add"]

UNPROTECTED = "no passphrase is set: whoever can write the file has the operator's authority"


def add(grammar: Grammar) -> None:
    """Add the command."""
    init = grammar.command("init", _init, "create a store; its wraps need the baton")
    init.add_argument("path", nargs="?", help="the file to create (else --db, ASSAY_DB, or your own store)")
    init.add_argument("--schema", choices=sorted(NAMED_SCHEMAS), default="default", help="sections of the continuity")
    init.add_argument("--policy", choices=sorted(POLICIES), default="default", help="how strict the rules are")
    init.add_argument("--project-name", metavar="NAME", help="names the memory in its document")
    init.add_argument("--no-baton", action="store_true", help="let any session wrap")


def _init(call: Call) -> Reply:
    from assay.store import Store

    options = call.options
    path = options.path or call.path
    file = Path(path).expanduser()
    if file.is_file() and file.stat().st_size:
        Store(file, read_only=True).close()  # says so when the file is not ours
        raise Conflict(f"{file} is a store already: nothing was changed")
    with Store(
        file,
        project_name=options.project_name,
        schema=options.schema,
        policy=options.policy,
        requires_baton=not options.no_baton,
        principal="cli",
    ) as store:
        requires_baton = bool(store.authority.settings()["requires_baton"])
    steps = _next_steps(named=options.path is not None, path=path, requires_baton=requires_baton)
    data: dict[str, JsonValue] = {
        "path": str(file),
        "schema": options.schema,
        "policy": options.policy,
        "requires_baton": requires_baton,
        "authority": "unprotected",
        "next": [*steps],
    }
    lines = [f"created {file}", "", "next:", *(f"  {step}" for step in steps), "", f"authority: {UNPROTECTED}"]
    return Reply(data, "\n".join(lines))


def _next_steps(*, named: bool, path: str, requires_baton: bool) -> list[str]:
    steps = [f"export ASSAY_DB={path}"] if named else []
    steps.append('assay record "what happened"')
    if requires_baton:
        steps += [
            "assay baton claim NAME        # once: the one session that may wrap",
            "export ASSAY_SESSION_ID=NAME  # where that session runs",
        ]
    return [*steps, "assay wrap"]
