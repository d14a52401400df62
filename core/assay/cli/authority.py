"""`assay baton`: which session may wrap."""

from __future__ import annotations

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import Reply
from assay.errors import InvalidInput, NotAuthorised

__all__ = ["add"]


def add(grammar: Grammar) -> None:
    """Add the commands."""
    baton = grammar.group("baton", "which session may wrap")
    claim = baton.command("claim", _claim, "give a session the baton")
    claim.add_argument("name", nargs="?", help="the session's id (else --session or ASSAY_SESSION_ID)")
    claim.add_argument("--take", action="store_true", help="take it from another session")
    baton.command("status", _status, "say who holds it")


def _claim(call: Call) -> Reply:
    name = call.options.name or call.session
    if not name:
        raise InvalidInput("name", "say which session: `assay baton claim NAME`")
    with call.writing() as store:
        holder = store.authority.baton()
        if holder not in (None, name) and not call.options.take:
            raise NotAuthorised(f"{holder!r} holds the baton: --take takes it over")
        store.authority.claim(name, take=call.options.take)
    return Reply({"baton": name}, f"{name} holds the baton")


def _status(call: Call) -> Reply:
    with call.reading() as store:
        holder = store.authority.baton()
        needed = bool(store.authority.settings()["requires_baton"])
    held = f"held by {holder}" if holder else "held by nobody: `assay baton claim NAME`"
    return Reply({"baton": holder, "requires_baton": needed}, f"{held}{'' if needed else '; this store needs none'}")
