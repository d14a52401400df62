"""Save a rewritten document: check it against what it cites, and commit what it earned, or refuse."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from assay.audit.folding import folded, repeats
from assay.model.constants import LIST_MAX, MAX_DOCUMENT_BYTES, MAX_DOCUMENT_LINES, MAX_LINE_CHARS
from assay.model.episode import JsonValue
from assay.model.finding import Action, Finding
from assay.model.wrap import Usage, WrapResult, WrapStatus
from assay.storage import wrap_rows
from assay.storage.database import Database
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction
from assay.text import canon
from assay.wrap.commit import commit, digest
from assay.wrap.diff import diff
from assay.wrap.document import parse
from assay.wrap.evaluate import evaluate
from assay.wrap.feedback import holding
from assay.wrap.findings import found
from assay.wrap.lifecycle import as_open, holds_token, lease_end
from assay.wrap.material import load
from assay.wrap.prepare import no_authority

__all__ = ["save_continuity"]

Mode = Literal["apply", "dry_run", "retry"]


@dataclass(frozen=True, slots=True)
class _Call:
    """The arguments of one save."""

    text: str
    token: str | None
    mode: Mode
    session: str
    composer: str
    allow_shrink: bool
    counter: Callable[[str], int]


def save_continuity(
    database: Database,
    text: str,
    token: str | None,
    *,
    mode: Mode = "apply",
    session: str,
    composer: str = "",
    allow_shrink: bool = False,
    counter: Callable[[str], int],
) -> WrapResult:
    """Check a text and commit it in one transaction; a refused one writes only its audit entry.

    Args:
        database: The store.
        text: The whole document.
        token: Of the package; None for the session that prepared the wrap.
        mode: `dry_run` writes nothing; `retry` also refuses, as often as the store allows, what could be mended.
        session: Who saves: only the session that prepared the wrap may.
        composer: Label of who wrote the text.
        allow_shrink: Accept, once, that sections lose most of their content.
        counter: Counts tokens.
    """
    call = _Call(text, token, mode, session, composer, allow_shrink is True, counter)
    if mode == "dry_run":
        with database.read() as reader:
            return _decide(reader, call)
    return database.mutate(lambda tx: _decide(tx, call))


def _decide(reader: Reader, call: _Call) -> WrapResult:
    tx = reader if isinstance(reader, Transaction) else None
    row = wrap_rows.open_wrap(reader)
    if row is None or (call.token is not None and not holds_token(row, call.token)):
        return _no_such_wrap(reader, tx, call, row)
    if row["session"] != call.session:
        message = f"the wrap belongs to the session {row['session']!r}"
        return _answer(found("wrap-token", message, "save it in the session that prepared it"))
    unauthorised = no_authority(reader, call.session)
    if unauthorised is not None:
        _keep_draft(tx, call, row)
        return unauthorised
    unreadable = _unreadable(call.text)
    if unreadable is not None:
        _audit_refusal(tx, call, row, [unreadable])
        return _answer(unreadable)
    wrap = as_open(row["id"], row)
    parsed = parse(call.text, wrap.schema)
    material = load(reader, wrap, parsed)
    outcome = evaluate(parsed, material, call.counter, allow_shrink=call.allow_shrink)
    usage, told = Usage(tokens_out=call.counter(call.text)), (outcome.findings, outcome.raised)
    result = WrapResult(WrapStatus.DRY_RUN, *told, diff(material.before, outcome), wrap.n, None, outcome.body)
    result = replace(result, episodes_compressed=len(material.episodes), remaining=material.remaining, usage=usage)
    mendable = holding(outcome.findings)
    if outcome.refused or (call.mode == "retry" and wrap.retries < material.settings.max_retries and mendable):
        _audit_refusal(tx, call, row, outcome.findings)
        message = "; ".join(dict.fromkeys(finding.fix for finding in mendable if finding.fix))
        refused = replace(result, status=WrapStatus.REFUSED, raised=(), continuity="", episodes_compressed=0)
        return replace(refused, message=message)
    if tx is None:
        return result
    version = commit(tx, outcome, material, actor=call.session, composer=call.composer, text=call.text)
    return replace(result, status=WrapStatus.COMMITTED, version=version)


def _answer(finding: Finding) -> WrapResult:
    return WrapResult(WrapStatus.REFUSED, (finding,), message=finding.fix)


def _audit_refusal(tx: Transaction | None, call: _Call, row: dict[str, Any], findings: Sequence[Finding]) -> None:
    """Write the numbers of a refusal, or count one more of the same; the wrap stays open and its lease is renewed."""
    held = holding(findings)[:LIST_MAX]
    if tx is None or (call.mode != "retry" and repeats(tx, row, {finding.rule for finding in held})):
        return
    rules = Counter(finding.rule for finding in findings if finding.action in (Action.REFUSE, Action.LOWER))
    data: dict[str, JsonValue] = {"wrap": row["n"], "composer": call.composer, "rules": {**rules}}
    tx.entry("refused", actor=call.session, data=data | folded(tx, row["id"]))
    tried = row["retries"] + (call.mode == "retry")
    # Rules and lines alone: the words of a finding would outlive an erase of what they quote.
    told = {"refused": [[finding.rule, finding.line] for finding in held], "refused_at": tx.now}
    detail = json.dumps({**json.loads(row["detail"]), **told})
    tx.update("wrap", row["id"], {"lease_until": lease_end(tx), "retries": tried, "detail": detail})


def _no_such_wrap(reader: Reader, tx: Transaction | None, call: _Call, row: dict[str, Any] | None) -> WrapResult:
    """Answer a save for a wrap that is not open: repeated, superseded, or never prepared."""
    recent = reader.find("wrap", order="n DESC", limit=50) if call.token is not None else []
    mine = next((one for one in recent if holds_token(one, call.token or "")), None)
    if mine is not None:
        detail: dict[str, Any] = json.loads(mine["detail"])
        if mine["state"] == "committed" and detail.get("text") == digest(call.text):
            return _repeated(reader, mine["n"], detail)
        _keep_draft(tx, call, mine)
        fix = "prepare a new wrap; the text is kept as the store's draft"
        return _answer(found("wrap-superseded", f"wrap {mine['n']} is {mine['state']}", fix))
    if row is None:
        return _answer(found("wrap-none", "no wrap is open", "call prepare_wrap first and save with its token"))
    fix = "pass the token of the package that is being answered"
    return _answer(found("wrap-token", "the token is not that of the open wrap", fix))


def _repeated(reader: Reader, wrap: int, detail: dict[str, Any]) -> WrapResult:
    """Give again the result of a save that was committed."""
    rows = reader.find("document", {"version": detail["version"]})
    return WrapResult(
        WrapStatus.COMMITTED,
        raised=tuple(detail["raised"]),
        wrap=wrap,
        version=detail["version"],
        continuity=rows[0]["body"] if rows else "",
        message="this text was saved before",
    )


def _keep_draft(tx: Transaction | None, call: _Call, row: dict[str, Any]) -> None:
    """Keep the text of a save that came too late as the store's one draft."""
    if tx is None or _unreadable(call.text) is not None:
        return
    kept = tx.find("draft")
    if canon(call.text) not in (old["body"] for old in kept):
        tx.entry("refused", actor=call.session, data={"wrap": row["n"], "draft": True})
        for old in kept:
            tx.delete("draft", old["id"])
        tx.insert("draft", tx.new_id("dr"), {"body": canon(call.text), "wrap": row["n"], "made": tx.now})


def _unreadable(text: str) -> Finding | None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_DOCUMENT_BYTES:
        return found("text-too-large", f"{size:,} bytes, the limit is {MAX_DOCUMENT_BYTES:,}", "shorten the document")
    lines = text.count("\n") + 1
    if lines > MAX_DOCUMENT_LINES:
        return found("text-too-large", f"{lines:,} lines, the limit is {MAX_DOCUMENT_LINES:,}", "shorten the document")
    longest, line = max((len(line), -number) for number, line in enumerate(text.split("\n"), 1))
    message = f"a line has {longest:,} characters, the limit is {MAX_LINE_CHARS:,}"
    return found("text-too-large", message, "break the line", line=-line) if longest > MAX_LINE_CHARS else None
