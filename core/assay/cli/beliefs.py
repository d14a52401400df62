"""`assay beliefs`: what the store holds on evidence, and what its operator says about it."""

from __future__ import annotations

from argparse import ArgumentParser

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import NO, YES, Reply, as_json, one_line
from assay.model.belief import Belief
from assay.model.labels import Residence
from assay.model.refs import belief_ref

__all__ = ["add"]


def add(grammar: Grammar) -> None:
    """Add the commands."""
    group = grammar.group("beliefs", "what is held on evidence", _list)
    _filters(group.parser)
    _filters(group.command("list", _list, "list the beliefs with their levels"))
    _name(group.command("show", _show, "print one belief with its evidence"))
    level = _name(group.command("level", _level, "lower a belief; only evidence raises one"))
    level.add_argument("level", type=int, metavar="N", help="the level, below the present one")
    _reason(level, required=True)
    _reason(_name(group.command("rest", _rest, "take a belief out of document and recall")))
    _reason(_name(group.command("retire", _retire, "the same, because it no longer holds")), required=True)
    _reason(_name(group.command("sever", _sever, "end a belief and its evidence for good")))
    pin = _name(
        group.command("pin", _pin, "pin a fact: the document shows it word for word"), "TEXT", "the fact, one line"
    )
    pin.add_argument("--cue", action="append", default=[], metavar="WORD", help="recall it on this; may be repeated")
    _reason(_name(group.command("unpin", _unpin, "let a pinned fact go"), "TEXT", "its ref or text"), required=True)
    _watching(group)
    group.command("conflicts", _conflicts, "list the beliefs that contradict each other")
    dismiss = _name(group.command("dismiss", _dismiss, "say that two beliefs may stand side by side"))
    dismiss.add_argument("other", metavar="OTHER", help="the other belief")
    _reason(dismiss, required=True)


def _filters(parser: ArgumentParser) -> None:
    kinds = [residence.value for residence in Residence]
    parser.add_argument("--residence", choices=kinds, help="only those of one residence; rest is left out by default")


def _name(parser: ArgumentParser, metavar: str = "NAME", about: str = "its name or ref") -> ArgumentParser:
    parser.add_argument("name", metavar=metavar, help=about)
    return parser


def _watching(group: Grammar) -> None:
    watch = group.command("watch", _watch, "report in every save when a statement or a belief has drifted")
    watch.add_argument("--belief", default="", metavar="NAME", help="a belief, by name or ref")
    watch.add_argument("--level", type=int, metavar="N", help="its least level (else the present one, at least 2)")
    watch.add_argument("--text", default="", metavar="TEXT", help="or a statement, all in one line of the document")
    watch.add_argument("--section", default="", metavar="HEADING", help="look for the statement there only")
    group.command("unwatch", _unwatch, "stop watching").add_argument("ref", metavar="REF", help="as `watch` gave it")
    group.command("watched", _watched, "look for all that is watched, now")


def _reason(parser: ArgumentParser, *, required: bool = False) -> None:
    parser.add_argument("--reason", required=required, default="", metavar="TEXT", help="kept in the log")


def _list(call: Call) -> Reply:
    wanted: str | None = call.options.residence
    with call.reading() as store:
        listed = [
            belief
            for belief in store.beliefs.list()
            if (belief.residence != Residence.REST if wanted is None else belief.residence == wanted)
        ]
    return Reply({"beliefs": [as_json(belief) for belief in listed]}, "\n".join(map(_line, listed)) or "no beliefs yet")


def _show(call: Call) -> Reply:
    with call.reading() as store:
        found = store.explain(store.beliefs.get(call.options.name).ref)
    belief = found.belief
    lines = [_line(belief)] if belief else []
    lines += [
        f"  {link.earned}x in wrap {link.wrap}: {link.episode} {link.explanation}".rstrip() for link in found.evidence
    ]
    lines += [f"  result: {'worked' if worked else 'failed'} {note}".rstrip() for worked, note in found.results]
    return Reply({"belief": as_json(belief), "evidence": as_json(found.evidence)}, "\n".join(map(_indented, lines)))


def _level(call: Call) -> Reply:
    with call.writing() as store:
        belief = store.beliefs.set_level(call.options.name, call.options.level, reason=call.options.reason)
    return Reply({"belief": as_json(belief)}, _line(belief))


def _rest(call: Call) -> Reply:
    with call.writing() as store:
        belief = store.beliefs.rest(call.options.name, reason=call.options.reason)
    return Reply({"belief": as_json(belief)}, f"{belief.name or belief.ref} rests")


def _retire(call: Call) -> Reply:
    with call.writing() as store:
        belief = store.beliefs.retire(call.options.name, reason=call.options.reason)
    return Reply({"belief": as_json(belief)}, f"{belief.name or belief.ref} is retired")


def _sever(call: Call) -> Reply:
    name: str = call.options.name
    with call.writing() as store:
        store.beliefs.sever(name, reason=call.options.reason)
    return Reply({"severed": name}, f"{name} is gone, with its evidence")


def _pin(call: Call) -> Reply:
    with call.writing() as store:
        belief = store.beliefs.pin(call.text(call.options.name, "text"), call.options.cue)
    return Reply({"belief": as_json(belief)}, _line(belief))


def _unpin(call: Call) -> Reply:
    with call.writing() as store:
        belief = store.beliefs.unpin(call.options.name, reason=call.options.reason)
    return Reply({"belief": as_json(belief)}, f"{belief.ref} is not pinned any more")


def _watch(call: Call) -> Reply:
    given = call.options
    with call.writing() as store:
        ref = store.beliefs.probe(given.text, belief=given.belief, level=given.level, section=given.section)
    return Reply({"probe": ref}, ref)


def _unwatch(call: Call) -> Reply:
    with call.writing() as store:
        store.beliefs.unprobe(call.options.ref)
    return Reply({"removed": call.options.ref}, f"{call.options.ref} is not watched any more")


def _watched(call: Call) -> Reply:
    with call.reading() as store:
        found = store.beliefs.probes()
    lines = [
        one_line(
            f"{one.probe.ref} {one.state.value} {one.probe.text or one.probe.belief}: {one.detail or one.state.value}"
        )
        for one in found
    ]
    drifted = any(one.state != "held" for one in found)
    text = "\n".join(lines) or "nothing is watched"
    return Reply({"probes": [as_json(one) for one in found]}, text, NO if drifted else YES)


def _conflicts(call: Call) -> Reply:
    with call.reading() as store:
        found = store.beliefs.conflicts()
    lines = [
        f"{_line(one.one)}\n  {'contradicts' if one.stated else 'seems to contradict'} {_line(one.other)}"
        for one in found
    ]
    return Reply({"conflicts": [as_json(one) for one in found]}, "\n".join(lines) or "no conflicts")


def _dismiss(call: Call) -> Reply:
    pair: tuple[str, str] = call.options.name, call.options.other
    with call.writing() as store:
        store.beliefs.dismiss(*pair, reason=call.options.reason)
    return Reply({"dismissed": [*pair]}, f"{pair[0]} and {pair[1]} may stand side by side")


def _line(belief: Belief) -> str:
    said = f"{belief.name}: {belief.text}" if belief.name and belief.text != belief.name else belief.text
    marks = "".join(f" ({mark.value})" for mark in belief.marks)
    held = "pinned" if belief.residence is Residence.PINNED else f"{belief.level}x {belief.residence.value}"
    return f"{belief_ref(belief.ref)}  {held}  {one_line(said or belief.name)}{marks}"


def _indented(line: str) -> str:
    return line[: len(line) - len(line.lstrip())] + one_line(line)
