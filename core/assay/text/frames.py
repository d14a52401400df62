"""What frames a statement: it was once so, it would be so, somebody asks whether, or the form of a verb denies it."""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from assay.text.clipping import sentences
from assay.text.lexicon import alternatives, members, pattern, table
from assay.text.normal import skeleton
from assay.text.script import SPACELESS, classes
from assay.text.vocabulary import content_set

__all__ = ["ENDS", "frames", "is_remark", "pieces"]

ENDS = ".!?。！？؟।… "
_MARKS = dict.fromkeys(map(ord, ",;:()[]，；：、،؛—–"), " \n ")
_EDGES = f"{ENDS}\"'*_`~<>{{}}¿¡«»“”„"
_APOSTROPHES = dict.fromkeys(map(ord, "'’ʼ"), " ")
_NOTHING: frozenset[str] = frozenset()


class _Clause(NamedTuple):
    kinds: frozenset[str]  # past, unreal, denied, asked: its frames; now: not to be framed by its neighbours
    words: frozenset[str]  # without those of the frames
    denied: frozenset[str]  # those that a denial in it reaches


def frames(text: str, shared: frozenset[str]) -> frozenset[str]:
    """Return the frames in which a text puts the words that it shares with another.

    A denial counts when it reaches any of them; another frame when it holds a number, or half of them or more, that
    no plain clause of the text repeats. `past`, `unreal`, `denied` and `asked` are what there is.
    """
    read, found = _clauses(text), set[str]()
    for kind in _NOTHING.union(*(one.kinds for one in read)) - {"now"}:
        plain = _NOTHING.union(*(one.words for one in read if kind not in one.kinds))
        denies = kind == "denied"
        held = _NOTHING.union(*((one.denied if denies else one.words) for one in read if kind in one.kinds))
        only = (held & shared) - plain
        if only and (
            denies or any(map(str.isdecimal, "".join(only))) or 2 * len(only) > len(shared) - (not plain & shared)
        ):
            found.add(kind)
    return frozenset(found)


def is_remark(sentence: str) -> bool:
    """Tell whether a sentence says nothing of its own (`No.`, `In theory.`), so that it belongs to the one before."""
    return not any(one.words for one in _clauses(sentence))


def pieces(sentence: str) -> Iterator[list[str]]:
    """Yield the chunks of each clause, which ends at a comma or the like (not in `14:30`), at `but` and an option."""
    for stretch in pattern("(?<=[0-9]):(?=[0-9])").sub("\u2236", sentence).translate(_MARKS).split("\n"):
        piece: list[str] = []
        for chunk in stretch.split():
            spaced = "\u0e00" <= chunk[0] < "\u0f00"  # Thai and Lao write a space for a comma
            if piece and (spaced or chunk.lower() in members("contrast") or "--" in (chunk[:2], piece[-1][:2])):
                yield piece
                piece = []
            piece.append(chunk)
        yield piece


@lru_cache(maxsize=2_048)
def _clauses(text: str) -> tuple[_Clause, ...]:
    asked = frozenset(["asked"] if text.rstrip("\"'”’»)]*_ ").endswith(("?", "？", "؟")) else [])
    found: list[_Clause] = []
    for sentence in sentences(text):
        read = [_clause(" ".join(piece).translate(_APOSTROPHES).split()) for piece in pieces(sentence)]
        # What says nothing else frames what stands beside it: `Formerly, ...`, `... (as if)`.
        bare = asked.union(*(one.kinds for one in read if not one.words))
        for kinds, words, denied in read:
            framed = kinds | (asked if "now" in kinds else bare - {"now"})
            found.append(_Clause(framed, words, words if "denied" in framed - kinds else denied))
    return tuple(found)


def _clause(chunks: list[str]) -> _Clause:
    marked = _marked(["^", *(skeleton(chunk.strip(_EDGES)) for chunk in chunks), "$"])
    ahead = max((place for place, kind in marked.items() if kind == "ahead"), default=len(chunks))
    text = " ".join(chunk for place, chunk in enumerate(chunks, 1) if marked.get(place, "plain") in ("plain", "now"))
    kinds = set(marked.values()) - {"plain"}
    for form, kind in _anywhere() if not SPACELESS.isdisjoint(classes(text)) else ():
        kinds |= {kind} if form in text else set()
        text = text.replace(form, " ")
    words = content_set(text)
    reached = content_set(" ".join(chunks[ahead:])) if kinds.isdisjoint(["denied"]) else _NOTHING
    return _Clause(frozenset("denied" if kind == "ahead" else kind for kind in kinds), words, reached or words)


def _marked(spoken: list[str]) -> dict[int, str]:
    """Return the place of each word that belongs to a form of the list, with what the form does."""
    found: dict[int, str] = {}
    for place, word in enumerate(spoken):
        sizes = range(4, 0, -1) if place not in found else ()
        said = ((size, _forms().get(" ".join(spoken[place : place + size]), "")) for size in sizes)
        size, kind = next((one for one in said if one[1]), (1, _shape(word)))
        found = dict.fromkeys(range(place, place + size), kind) | found if kind else found
    return found


@cache
def _forms() -> dict[str, str]:
    listed = dict.fromkeys(members("contrast"), "now") | table("frames")
    return {skeleton(form): kind.partition("-")[0] for form, kind in listed.items()}


@cache
def _anywhere() -> list[tuple[str, str]]:
    return [(form, kind) for form, kind in _forms().items() if not SPACELESS.isdisjoint(classes(form))]


@lru_cache(maxsize=4_096)
def _shape(word: str) -> str:
    """Return what the form of a word alone says, or ""."""
    match = pattern(alternatives("verbs")).fullmatch(word)
    return str(match.lastgroup).partition("_")[0] if match else ""
