"""`assay continuity`: the document that is always loaded."""

from __future__ import annotations

from argparse import ArgumentParser

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import NO, YES, Reply, as_json
from assay.model.episode import JsonValue

__all__ = ["add"]


def add(grammar: Grammar) -> None:
    """Add the commands."""
    group = grammar.group("continuity", "the document that is always loaded", _show)
    _version(group.parser)
    _version(group.command("show", _show, "print the document"))
    group.command("versions", _versions, "list its versions, newest first")
    group.command("sections", _sections, "list its sections with their sizes")


def _version(parser: ArgumentParser) -> None:
    parser.add_argument("--version", dest="number", type=int, metavar="N", help="an earlier version")


def _show(call: Call) -> Reply:
    number: int | None = call.options.number
    with call.reading() as store:
        text = store.continuity.text(number)
        version = store.continuity.version() if number is None else number
    shown = text.rstrip("\n") or "nothing was wrapped yet: `assay wrap`"
    return Reply({"version": version, "text": text}, shown, YES if text else NO)


def _versions(call: Call) -> Reply:
    with call.reading() as store:
        versions = store.continuity.versions()
    lines = [
        f"{item.number}  {item.made_at:%Y-%m-%d %H:%M}  {item.digest[:16]}  {f'wrap {item.wrap}' if item.wrap else ''}"
        for item in versions
    ]
    return Reply({"versions": [as_json(item) for item in versions]}, "\n".join(lines) or "nothing was wrapped yet")


def _sections(call: Call) -> Reply:
    from assay.wrap.document import render_line

    with call.reading() as store:
        sections = [
            (section, "\n".join(render_line(line) for line in section.body)) for section in store.continuity.sections()
        ]
        sizes = [store.count_tokens(text) for _, text in sections]
    data: list[JsonValue] = [
        {"heading": section.heading, "role": section.role.value, "tokens": size, "text": text}
        for (section, text), size in zip(sections, sizes, strict=True)
    ]
    lines = [
        f"{section.heading}  {section.role.value}  {size} tokens, {len(section.body)} lines"
        for (section, _), size in zip(sections, sizes, strict=True)
    ]
    return Reply({"sections": data}, "\n".join(lines) or "nothing was wrapped yet")
