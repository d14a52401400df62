"""Stems: one stemmer per script, so that an index and a query always agree."""

from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from threading import Lock
from types import ModuleType

from assay.text.lexicon import entries, members, table
from assay.text.normal import bare
from assay.text.script import Script

__all__ = ["stem"]

_LOCK = Lock()  # a Snowball stemmer keeps the word it works on in itself
_LANGUAGE = {
    Script.LATIN: "english",
    Script.CYRILLIC: "russian",
    Script.ARABIC: "arabic",
    Script.GREEK: "greek",
    Script.DEVANAGARI: "hindi",
}
_CYRILLIC = str.maketrans({"і": "и", "ї": "и", "є": "е", "ґ": "г", "ё": "е"})


@lru_cache(maxsize=65_536)
def stem(word: str, script: Script) -> str:
    """Return the stem of a folded word; a word with a digit, or of a script without a stemmer, is its own."""
    if script is Script.HANGUL:
        return _korean(word)
    if script not in _LANGUAGE or not 2 < len(word) <= 64 or any(map(str.isdecimal, word)):
        return word
    if script is Script.CYRILLIC:
        word = word.translate(_CYRILLIC)
    elif script is not Script.DEVANAGARI:
        word = bare(word).replace("\u0640", "")  # tatweel only stretches a word
    if script is Script.LATIN:
        word = _joined(table("irregular").get(word, word))
    return _snowball(_LANGUAGE[script])(word) or word


def _joined(word: str) -> str:
    """Bring together plurals and cases that the English stemmer leaves apart: German, then Romance."""
    for base, (ending,) in entries("endings_latin"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)] + base
    # Datenbanken; English words in -en of this length are listed as irregular.
    return word[:-2] if word.endswith("en") and len(word) > 7 else word


def _korean(word: str) -> str:
    """Drop the longest particle or verb ending that leaves two syllables."""
    for size in range(min(5, len(word) - 2), 0, -1):
        if word[-size:] in members("endings_ko"):
            return word[:-size]
    return word


@cache
def _snowball(language: str) -> Callable[[str], str]:
    module = import_module(f"{_package().__name__}.{language}_stemmer")
    worker = getattr(module, f"{language.capitalize()}Stemmer")()

    def run(word: str) -> str:
        with _LOCK:
            return str(worker.stemWord(word))

    return run


@cache
def _package() -> ModuleType:
    """Stand in for the package `snowballstemmer` without running its `__init__`.

    That file imports all 36 languages, some 100 ms of a cold start, and hands over to PyStemmer where it is
    installed, whose release may stem differently: an index must not depend on that.
    """
    import sys
    from importlib.util import find_spec

    found = find_spec("snowballstemmer")
    if found is None or found.submodule_search_locations is None:
        return import_module("snowballstemmer")
    package = ModuleType(f"{__name__}_snowball")
    package.__path__ = list(found.submodule_search_locations)
    return sys.modules.setdefault(package.__name__, package)
