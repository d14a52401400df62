"""Save a rewritten document: check it against what it cites, and commit what it earned, or refuse."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assay.model.constants import MAX_DOCUMENT_BYTES, MAX_LINE_CHARS
from assay.model.episode import JsonValue
from assay.model.finding import Action, Finding
from assay.model.wrap import Usage, WrapResult, WrapStatus
from assay.storage import wrap_rows
from assay.storage.database import Database
from assay.storage.document_rows import newest_version
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction
from assay.text import canon
from assay.wrap.commit import commit
from assay.wrap.diff import diff, raised
from assay.wrap.document import parse
from assay.wrap.evaluate import Evaluation, evaluate
from assay.wrap.feedback import holding
from assay.wrap.lifecycle import as_open, holds_token
from assay.wrap.material import Material, load
from assay.wrap.prepare import lease_end, no_authority

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
    row = wrap_rows.open_wrap(reader)
    tx = reader if isinstance(reader, Transaction) and call.mode != "dry_run" else None
    if row is None or (call.token is not None and not holds_token(row, call.token)):
        return _no_such_wrap(reader, tx, call, row)
    if row["session"] != call.session:
        fix = f"save it in the session {row['session']!r}, which prepared it"
        finding = Finding("wrap-token", Action.REFUSE, f"the wrap belongs to the session {row['session']!r}", fix)
        return WrapResult(WrapStatus.REFUSED, (finding,), wrap=row["n"], message=fix)
    unauthorised = no_authority(reader, call.session)
    if unauthorised is not None:
        _keep_draft(tx, call, row)
        return unauthorised
    unreadable = _unreadable(call.text)
    if unreadable is not None:
        return _refused(tx, call, row, [unreadable])
    wrap = as_open(row)
    parsed = parse(call.text, wrap.schema)
    material = load(reader, wrap, parsed)
    evaluation = evaluate(parsed, material, call.counter, allow_shrink=call.allow_shrink)
    held = holding(evaluation.findings) if call.mode == "retry" and wrap.retries < material.settings.max_retries else []
    if evaluation.refused or held:
        return _refused(tx, call, row, evaluation.findings, evaluation, material)
    return _committed(tx, call, evaluation, material)


def _committed(tx: Transaction | None, call: _Call, evaluation: Evaluation, material: Material) -> WrapResult:
    version = None
    if tx is not None:
        version = commit(tx, evaluation, material, actor=call.session, composer=call.composer, text=call.text)
    status = WrapStatus.COMMITTED if tx is not None else WrapStatus.DRY_RUN
    return _outcome(status, call, evaluation, material, version)


def _outcome(
    status: WrapStatus, call: _Call, evaluation: Evaluation, material: Material, version: int | None = None
) -> WrapResult:
    return WrapResult(
        status,
        evaluation.findings,
        raised(evaluation) if status is not WrapStatus.REFUSED else (),
        diff(material.before, evaluation),
        material.wrap.n,
        version,
        evaluation.body if status is not WrapStatus.REFUSED else "",
        len(material.episodes) if status is not WrapStatus.REFUSED else 0,
        material.remaining,
        Usage(tokens_out=call.counter(call.text)),
    )


def _refused(
    tx: Transaction | None,
    call: _Call,
    row: dict[str, Any],
    findings: Sequence[Finding],
    evaluation: Evaluation | None = None,
    material: Material | None = None,
) -> WrapResult:
    """Audit the refusal with its numbers; the wrap stays open and its lease is renewed."""
    if tx is not None:
        rules = Counter(finding.rule for finding in findings if finding.action in (Action.REFUSE, Action.LOWER))
        data: dict[str, JsonValue] = {
            "wrap": row["n"],
            "composer": call.composer,
            "rules": {**dict(sorted(rules.items()))},
        }
        tx.entry("refused", actor=call.session, data=data)
        tried = row["retries"] + (1 if call.mode == "retry" else 0)
        tx.update("wrap", row["id"], {"lease_until": lease_end(tx), "retries": tried})
    message = "; ".join(dict.fromkeys(finding.fix for finding in holding(findings) if finding.fix))
    if evaluation is None or material is None:
        return WrapResult(WrapStatus.REFUSED, tuple(findings), wrap=row["n"], message=message)
    result = _outcome(WrapStatus.REFUSED, call, evaluation, material)
    return WrapResult(
        WrapStatus.REFUSED, result.findings, (), result.diff, row["n"], usage=result.usage, message=message
    )


def _no_such_wrap(reader: Reader, tx: Transaction | None, call: _Call, row: dict[str, Any] | None) -> WrapResult:
    """Answer a save for a wrap that is not open: repeated, superseded, or never prepared."""
    mine = None
    if call.token is not None:
        mine = next(
            (one for one in reader.find("wrap", order="n DESC", limit=50) if holds_token(one, call.token)), None
        )
    digest = hashlib.sha256(call.text.encode("utf-8", "surrogatepass")).hexdigest()
    if mine is not None and mine["state"] == "committed" and json.loads(mine["detail"]).get("text") == digest:
        return _repeated(reader, mine)
    if mine is not None:
        _keep_draft(tx, call, mine)
        fix = "prepare a new wrap; the text is kept as the store's draft"
        finding = Finding("wrap-superseded", Action.REFUSE, f"wrap {mine['n']} is {mine['state']}", fix)
    elif row is None:
        fix = "call prepare_wrap first and save with its token"
        finding = Finding("wrap-none", Action.REFUSE, "no wrap is open", fix)
    else:
        fix = "pass the token of the package that is being answered"
        finding = Finding("wrap-token", Action.REFUSE, "the token is not that of the open wrap", fix)
    return WrapResult(WrapStatus.REFUSED, (finding,), message=finding.fix)


def _repeated(reader: Reader, row: dict[str, Any]) -> WrapResult:
    """Give again the result of a save that was committed."""
    detail = json.loads(row["detail"])
    version = detail.get("version", newest_version(reader))
    rows = reader.find("document", {"version": version})
    return WrapResult(
        WrapStatus.COMMITTED,
        raised=tuple(detail.get("raised", ())),
        wrap=row["n"],
        version=version,
        continuity=rows[0]["body"] if rows else "",
        message="this text was saved before",
    )


def _keep_draft(tx: Transaction | None, call: _Call, row: dict[str, Any]) -> None:
    """Keep the text of a save that came too late as the store's one draft."""
    if tx is None or len(call.text.encode("utf-8", "surrogatepass")) > MAX_DOCUMENT_BYTES:
        return
    tx.entry("refused", actor=call.session, data={"wrap": row["n"], "draft": True})
    for old in tx.find("draft"):
        tx.delete("draft", old["id"])
    tx.insert("draft", tx.new_id("dr"), {"body": canon(call.text), "wrap": row["n"], "made": tx.now})


def _unreadable(text: str) -> Finding | None:
    if not text.strip():
        return Finding("text-empty", Action.REFUSE, "the text is empty", "answer with the whole document", fixable=True)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_DOCUMENT_BYTES:
        message = f"{size:,} bytes, the limit is {MAX_DOCUMENT_BYTES:,}"
        return Finding("text-too-large", Action.REFUSE, message, "shorten the document", fixable=True)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_LINE_CHARS:
            message = f"a line has {len(line):,} characters, the limit is {MAX_LINE_CHARS:,}"
            return Finding("text-too-large", Action.REFUSE, message, "break the line", line=number, fixable=True)
    return None
