"""`assay record`, `correct`, `result` and `erase`: what changes the memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import NO, YES, Reply, as_json
from assay.errors import InvalidInput
from assay.model.episode import Episode, JsonValue
from assay.model.labels import Kind, Origin, Trust, Verdict

__all__ = ["add"]

# The operator and the host speak through the library: nothing typed at a shell proves that it comes from them.
_ORIGINS = (Origin.AGENT, Origin.USER, Origin.TOOL, Origin.IMPORT)
_TRUSTS = (Trust.AGENT, Trust.TOOL, Trust.EXTERNAL)


def add(grammar: Grammar) -> None:
    """Add the commands."""
    record = grammar.command("record", _record, "record something that happened")
    record.add_argument("text", help="what happened; - reads standard input")
    record.add_argument("--kind", choices=[kind.value for kind in Kind], default=Kind.OBSERVATION.value)
    record.add_argument("--source", default="", help="who or what says so")
    record.add_argument("--origin", choices=[origin.value for origin in _ORIGINS], default=Origin.AGENT.value)
    record.add_argument("--trust", choices=[trust.value for trust in _TRUSTS], help="how far it is trusted")
    record.add_argument(
        "--state-key", metavar="KEY", help="the fact whose current value this is; replaces the earlier one"
    )
    outcome = record.add_mutually_exclusive_group()
    outcome.add_argument(
        "--succeeded", dest="success", action="store_true", default=None, help="an outcome that went well"
    )
    outcome.add_argument("--failed", dest="success", action="store_false", help="an outcome that did not")
    record.add_argument("--derived-from", metavar="REF", action="append", default=[], help="what it was made from")
    record.add_argument("--supersedes", metavar="REF", action="append", default=[], help="what it takes the place of")
    record.add_argument("--tag", metavar="TAG", action="append", default=[])
    record.add_argument("--metadata", metavar="JSON", help="an object of JSON values")
    record.add_argument("--happened-at", metavar="TIME", help="ISO 8601; now by default")
    record.add_argument("--run", metavar="ID", help="the run it belongs to")
    record.add_argument("--idempotency-key", metavar="KEY", help="recording again with it gives the stored episode")

    correct = grammar.command("correct", _correct, "record a text in the place of an episode")
    correct.add_argument("ref")
    correct.add_argument("text", help="the better text; - reads standard input")
    correct.add_argument("--source", default="", help="who says so")

    result = grammar.command("result", _result, "say how acting on an episode or a belief went")
    result.add_argument("ref", help="a ref, or the name of a belief")
    result.add_argument("how", choices=["worked", "failed"])
    result.add_argument("--note", default="", help="what happened")

    erase = grammar.command("erase", _erase, "remove an episode for good, from every tier")
    erase.add_argument("ref")
    erase.add_argument("--reason", default="", help="kept in the log")


def _record(call: Call) -> Reply:
    options = call.options
    text = call.text(options.text, "text")
    kind = Kind.OUTCOME if options.success is not None else Kind(options.kind)
    with call.writing() as store:
        episode = store.record(
            text,
            kind,
            source=options.source,
            origin=options.origin,
            trust=options.trust,
            success=options.success,
            state_key=options.state_key,
            derived_from=options.derived_from,
            supersedes=options.supersedes,
            tags=options.tag,
            metadata=_metadata(options.metadata),
            happened_at=options.happened_at,
            run=options.run,
            idempotency_key=options.idempotency_key,
        )
    return _recorded(episode)


def _metadata(text: str | None) -> Mapping[str, JsonValue] | None:
    if text is None:
        return None
    try:
        found: Any = json.loads(text)
    except ValueError as error:
        raise InvalidInput("metadata", f"it is not JSON ({error})") from error
    if not isinstance(found, dict):
        raise InvalidInput("metadata", "a JSON object is needed")
    return found  # pyright: ignore[reportUnknownVariableType]


def _correct(call: Call) -> Reply:
    text = call.text(call.options.text, "text")
    with call.writing() as store:
        return _recorded(store.correct(call.options.ref, text, source=call.options.source))


def _recorded(episode: Episode) -> Reply:
    note = "" if episode.verdict is Verdict.NEW else f" ({episode.verdict.value} of {episode.verdict_target})"
    return Reply({"episode": as_json(episode)}, f"{episode.ref}{note}")


def _result(call: Call) -> Reply:
    options = call.options
    worked = options.how == "worked"
    with call.writing() as store:
        store.result(options.ref, worked, note=options.note)
    return Reply({"ref": options.ref, "worked": worked, "note": options.note}, f"noted: {options.ref} {options.how}")


def _erase(call: Call) -> Reply:
    with call.writing() as store:
        erasure = store.erase(call.options.ref, reason=call.options.reason)
    lines = [f"erased {ref}" for ref in erasure.erased]
    lines += [f"rewritten: {item}" for item in erasure.rewritten]
    lines += [f"stays, trusted as external from now on: {ref}" for ref in erasure.derived]
    if erasure.pending:
        lines.append("pending: a reader still holds the old bytes; they go with the next write after it has left")
    lines.append(f"out of reach: {'; '.join(erasure.out_of_reach)}")
    return Reply({"erasure": as_json(erasure)}, "\n".join(lines), NO if erasure.pending else YES)
