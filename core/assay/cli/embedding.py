"""`assay reembed`: making the vectors of episodes with an embedder that is named."""

from __future__ import annotations

from typing import Any

from assay.cli.call import Call
from assay.cli.grammar import Grammar
from assay.cli.reply import Reply, as_json
from assay.errors import InvalidInput

__all__ = ["add"]


def add(grammar: Grammar) -> None:
    """Add the command."""
    reembed = grammar.command("reembed", _reembed, "make the vectors that are missing, or all by another embedder")
    reembed.add_argument("embedder", metavar="MODULE:NAME", help="a function from a list of texts to vectors")
    reembed.add_argument("--everything", action="store_true", help="make all anew in any case")


def _reembed(call: Call) -> Reply:
    with call.writing(embedder=_named(call.options.embedder)) as store:
        made = store.vectors.reembed(everything=call.options.everything)
        state = store.vectors.state()
    text = f"{made:,} vectors made; {state.kept:,} are kept, of {state.dimension} numbers, by {state.embedder}"
    return Reply({"made": made, "vectors": as_json(state)}, text)


def _named(name: str) -> Any:
    """Import an object that is named as an entry point is.

    Raises:
        InvalidInput: There is none.
    """
    from pkgutil import resolve_name

    try:
        return resolve_name(name)
    except (ValueError, ImportError, AttributeError) as error:
        raise InvalidInput("embedder", f"{name!r} cannot be imported as MODULE:NAME ({error})") from error
