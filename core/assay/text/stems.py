"""Stems: one stemmer per script, so that an index and a query always agree."""

from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from threading import Lock
from types import ModuleType
from unicodedata import category, normalize

from assay.text.lexicon import entries
from assay.text.script import Script

__all__ = ["lemma", "stem"]

_LOCK = Lock()  # a Snowball stemmer keeps the word it works on in itself
_LANGUAGE = {
    Script.LATIN: "english",
    Script.CYRILLIC: "russian",
    Script.ARABIC: "arabic",
    Script.GREEK: "greek",
    Script.DEVANAGARI: "hindi",
}
# Plural and case endings of nouns that the English stemmer leaves apart: German, then Romance.
_LATIN_ENDINGS = (
    ("ungen", "ung"),
    ("heiten", "heit"),
    ("keiten", "keit"),
    ("schaften", "schaft"),
    ("ationen", "ation"),
    ("ciones", "cion"),
    ("coes", "cao"),
    ("zioni", "zione"),
    ("aux", "al"),
)
_UKRAINIAN = str.maketrans({"і": "и", "ї": "и", "є": "е", "ґ": "г", "ё": "е"})


@lru_cache(maxsize=65_536)
def stem(word: str, script: Script) -> str:
    """Return the stem of a folded word; a word with a digit, or of a script without a stemmer, is its own."""
    if script is Script.HANGUL:
        return _korean(word)
    language = _LANGUAGE.get(script)
    if language is None or len(word) < 3 or len(word) > 64 or not word.isalpha() and script is Script.LATIN:
        return word
    if script is Script.LATIN:
        return _latin(word)
    if script is Script.CYRILLIC:
        word = word.translate(_UKRAINIAN)
    elif script is not Script.DEVANAGARI:
        word = _bare(word).replace("\u0640", "")  # tatweel only stretches a word
    return _snowball(language)(word) or word


@cache
def _irregular() -> dict[str, str]:
    return {form: base for base, forms in entries("irregular") for form in forms}


def lemma(word: str) -> str:
    """Return the base form of an irregular English word (`went` is `go`), any other word as it is."""
    return _irregular().get(word, word)


def _latin(word: str) -> str:
    plain = word if word.isascii() else _bare(word)
    for ending, base in _LATIN_ENDINGS:
        if plain.endswith(ending) and len(plain) > len(ending) + 2:
            plain = plain[: -len(ending)] + base
    if plain.endswith("en") and len(plain) > 7:  # Datenbanken; English words in -en this long are listed
        plain = plain[:-2]
    return _snowball("english")(lemma(plain)) or plain


def _bare(word: str) -> str:
    """Drop accents and vowel marks."""
    if word.isascii():
        return word
    return normalize("NFC", "".join(c for c in normalize("NFD", word) if category(c) != "Mn"))


@cache
def _korean_endings() -> tuple[str, ...]:
    listed = [ending for _, group in entries("endings_ko") for ending in group]
    return tuple(sorted(listed, key=len, reverse=True))


def _korean(word: str) -> str:
    """Drop one particle or verb ending, as long as two syllables remain."""
    for ending in _korean_endings():
        if len(word) >= len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)]
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

    That file imports all 36 languages, which takes 100 ms, and hands over to PyStemmer where it is installed,
    whose release may stem differently: an index must not depend on that.
    """
    import sys
    from importlib.util import find_spec

    found = find_spec("snowballstemmer")
    if found is None or found.submodule_search_locations is None:
        return import_module("snowballstemmer")
    package = ModuleType(f"{__name__}_snowball")
    package.__path__ = list(found.submodule_search_locations)
    return sys.modules.setdefault(package.__name__, package)
