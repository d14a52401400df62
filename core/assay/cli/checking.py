"""`assay status` and `verify`: what the store says of itself, and whether its log proves it."""

from __future__ import annotations

from datetime import timedelta

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import NO, YES, Reply, as_json
from assay.cli.setup import UNPROTECTED
from assay.model.status import Status

__all__ = ["add", "hours"]


def add(grammar: Grammar) -> None:
    """Add the commands."""
    grammar.command("status", _status, "count what the store holds, without any content")
    verify = grammar.command("verify", _verify, "replay the audit log against every row")
    verify.add_argument("--limit", type=int, default=20, metavar="N", help="name at most so many problems")
    verify.add_argument("--anchors", action="append", default=[], metavar="FILE", help="checkpoints kept elsewhere")
    verify.add_argument("--anchor-max-age", type=hours, metavar="HOURS", help="how old the newest anchor may be")
    verify.add_argument("--key", help="a verifier key of this store that you keep yourself")
    verify.add_argument("--since-anchor", action="store_true", help="check only what came after the newest anchor")
    verify.add_argument("--no-index", action="store_true", help="leave the search index out")


def hours(text: str) -> timedelta:
    """Read a number of hours.

    Raises:
        ValueError: It is none, or there are no dates so long ago.
    """
    try:
        return timedelta(hours=float(text))
    except OverflowError as error:
        raise ValueError("too many hours") from error


def _status(call: Call) -> Reply:
    with call.reading() as store:
        status = store.status()
    return Reply({"status": as_json(status), "authority": "unprotected"}, "\n".join(_lines(status)))


def _lines(status: Status) -> list[str]:
    levels = ", ".join(f"{count} at {level}x" for level, count in status.by_level.items())
    baton = f"held by {status.baton}" if status.baton else "not claimed: `assay baton claim NAME`"
    lines = [
        f"{status.project}  {status.path}",
        f"episodes    {status.episodes}, {status.pending} not wrapped yet",
        f"beliefs     {status.beliefs}{f' ({levels})' if levels else ''}",
        f"continuity  version {status.continuity_version}, {status.continuity_tokens} tokens, {status.wraps} wraps",
        f"open wrap   {f'by {status.open_wrap}' if status.open_wrap else 'none'}",
        f"baton       {baton if status.requires_baton else 'not needed'}",
        f"policy      {status.policy}",
        f"authority   {UNPROTECTED}",
        f"audit       {status.audit_entries} entries",
        f"size        {status.size_bytes:,} bytes, schema {status.schema_version}",
    ]
    if status.erase_pending:
        lines.append(f"erasing     {status.erase_pending} pending: a reader still holds the old bytes")
    lines += [f"fault       {code}: {count}" for code, count in status.faults.items()]
    return lines


def _verify(call: Call) -> Reply:
    options = call.options
    with call.reading() as store:
        found = store.verify(
            limit=options.limit,
            anchors=options.anchors,
            anchor_max_age=options.anchor_max_age,
            key=options.key,
            since_anchor=options.since_anchor,
            index=not options.no_index,
        )
    lines = [str(found), *(f"  {problem}" for problem in (*found.problems, *found.notes))]
    return Reply({"verification": as_json(found)}, "\n".join(lines), YES if found else NO)
