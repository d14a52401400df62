"""`assay recall`, `briefing` and `explain`: questions to the memory; none of them writes."""

from __future__ import annotations

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import NO, YES, Reply, as_json, one_line
from assay.model.episode import Episode, JsonValue
from assay.model.explanation import Explanation
from assay.model.labels import Kind, Trust
from assay.model.recall import Hit

__all__ = ["add"]


def add(grammar: Grammar) -> None:
    """Add the commands."""
    recall = grammar.command("recall", _recall, "find what answers a question; without one, the newest")
    recall.add_argument("text", nargs="?", default="", help="a question or words; - reads standard input")
    recall.add_argument("--kind", choices=[kind.value for kind in Kind], action="append", default=[])
    recall.add_argument(
        "--since", metavar="TIME", help="happened then or later: ISO 8601, a date, or an age such as 3d"
    )
    recall.add_argument("--until", metavar="TIME", help="happened then or before")
    recall.add_argument("--tag", metavar="TAG", action="append", default=[])
    recall.add_argument("--trust", choices=[trust.value for trust in Trust], help="of at least this effective trust")
    recall.add_argument("--source", help="said by")
    recall.add_argument("--of-session", metavar="ID", help="recorded in this session")
    recall.add_argument("--state-key", metavar="KEY")
    recall.add_argument("--history", action="store_true", help="also what was replaced, and every repetition")
    recall.add_argument("--valid-at", metavar="TIME", help="what was true then, by what is known now")
    recall.add_argument("--known-at", metavar="TIME", help="what the store knew then")
    recall.add_argument("--limit", type=int, default=10, metavar="N", help="at most so many, 10 by default")
    recall.add_argument("--after", metavar="CURSOR", help="the next page: the cursor that the page before gave")

    briefing = grammar.command("briefing", _briefing, "fit what bears on a goal into a prompt")
    briefing.add_argument("goal", nargs="?", default="", help="what is to be done; - reads standard input")
    briefing.add_argument("--tokens", type=int, default=1200, metavar="N", help="budget, 1200 by default")
    briefing.add_argument("--run", metavar="ID", help="equal runs and equal memory give equal text")

    explain = grammar.command("explain", _explain, "say where an episode or a belief comes from")
    explain.add_argument("ref", help="a ref, or the name of a belief")


def _recall(call: Call) -> Reply:
    options = call.options
    with call.reading() as store:
        found = store.recall(
            call.text(options.text, "text"),
            kinds=options.kind,
            since=options.since,
            until=options.until,
            tags=options.tag,
            trust=options.trust,
            session=options.of_session,
            source=options.source,
            state_key=options.state_key,
            history=options.history,
            valid_at=options.valid_at,
            known_at=options.known_at,
            limit=options.limit,
            after=options.after,
        )
    data: dict[str, JsonValue] = {
        "hits": [as_json(hit) for hit in found],
        "patterns": [as_json(pattern) for pattern in found.patterns],
        "nothing_relevant": found.nothing_relevant,
        "next": found.next,
    }
    lines = [_line(hit) for hit in (*found.patterns, *found)] or ["nothing relevant"]
    if found.next is not None:
        lines.append(f"more: --after {found.next}")
    return Reply(data, "\n".join(lines), YES if found or found.patterns else NO)


def _line(hit: Hit) -> str:
    facts = [f"{hit.level}x"] if hit.level is not None else []
    if hit.episode is not None:
        facts += [f"{hit.episode.happened_at:%Y-%m-%d}", hit.episode.source]
    if hit.trust.rank < Trust.AGENT.rank:
        facts.append(f"({hit.trust.value})")
    if hit.replaces:
        facts.append(f"(replaces {', '.join(hit.replaces)})")
    return "  ".join([hit.ref, *filter(None, facts), one_line(hit.text)])


def _briefing(call: Call) -> Reply:
    options = call.options
    with call.reading() as store:
        goal = call.text(options.goal, "goal")
        briefing = store.briefing(goal, tokens=options.tokens, session=call.session, run=options.run)
    return Reply({"briefing": as_json(briefing)}, briefing.text)


def _explain(call: Call) -> Reply:
    with call.reading() as store:
        found = store.explain(call.options.ref)
    return Reply({"explanation": as_json(found)}, "\n".join(_explained(found)))


def _explained(found: Explanation) -> list[str]:
    lines = _episode(found.episode) if found.episode is not None else [found.ref]
    if found.belief is not None:
        belief = found.belief
        lines.append(f"  {belief.kind.value} {belief.name!r}, {belief.level}x, {belief.residence.value}")
        lines.append(f"  {one_line(belief.text)}")
    lines += [
        f"  wrap {item.wrap}: {item.episode} earned {item.earned}x: {one_line(item.explanation)}"
        for item in found.evidence
    ]
    lines += [f"  from {source.ref}: {one_line(source.content)}" for source in found.sources]
    lines += [f"  made from it: {ref}" for ref in found.derived]
    lines += [f"  replaces {ref}" for ref in found.replaces]
    if found.replaced_by:
        lines.append(f"  replaced by {found.replaced_by}")
    lines += [f"  {'worked' if worked else 'failed'} {one_line(note)}".rstrip() for worked, note in found.results]
    return [*lines, f"  audit entries: {', '.join(map(str, found.entries))}"]


def _episode(episode: Episode) -> list[str]:
    outcome = {True: ", succeeded", False: ", failed", None: ""}[episode.success]
    lines = [
        f"{episode.ref}",
        f"  {episode.kind.value}{outcome}, happened {episode.happened_at:%Y-%m-%d %H:%M}, from {episode.origin.value}"
        f"{f' ({episode.source})' if episode.source else ''}",
        f"  trust {episode.trust.value}, effective {episode.effective_trust.value}",
        f"  {one_line(episode.content)}",
    ]
    if episode.state_key is not None:
        lines.insert(1, f"  state key {episode.state_key}")
    return lines
