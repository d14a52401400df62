"""Forms of values that a pattern can tell: addresses, paths, dates, times, versions, amounts."""

from collections.abc import Iterator
from functools import cache
from re import Match

from assay.text.lexicon import entries, members
from assay.text.normal import fold
from assay.text.script import BIGRAM_SCRIPTS, KINDS
from assay.text.value import Value, ValueType

__all__ = ["ALTERNATIVES", "quantity", "read_form"]

_NUMBER = r"\d{1,3}(?:[,'_]\d{3})+(?:\.\d+)?(?![\d,])|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?(?![\d.])|\d+(?:[.,]\d+)?"
_CURRENCY = r"[$€£¥₹₽₩]"
# In order of precedence. Each begins where a word begins, or is bounded, so that time is linear.
ALTERNATIVES = {
    "url": r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s<>\"'`|{}\\、。，）」』】]+",
    "email": r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}",
    "path": r"(?<![\w/~.\\:-])(?:[A-Za-z]:\\[\w.@+\\-]+|~?\.{0,2}/[\w.@+-]+(?:/[\w.@+-]+)*/?"
    r"|[A-Za-z_][A-Za-z0-9_.@+-]{0,128}(?:/[\w.@+-]+){2,}/?)",
    "date": r"(?<![\w.-])(?:\d{4}(?P<mark>[-/.])\d{1,2}(?P=mark)\d{1,2}(?!\d)|\d{1,2}\.\d{1,2}\.\d{4}(?!\d)"
    r"|\d{1,2}/\d{1,2}/\d{4}(?!\d))|(?<!\d)(?:\d{4}\s?[年년]\s?)?\d{1,2}\s?[月월](?:\s?\d{1,2}\s?[日일号])?",
    "time": r"(?<![\w:.])(?:\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\b)?(?![\d:])|\d{1,2}\s?[AaPp][Mm]\b"
    r"|\d{1,2}\s(?:Uhr|o'clock)\b|\d{1,2}h\d{2}\b)",
    "host": r"(?<![\w.@-])(?:\d{1,3}(?:\.\d{1,3}){3}|localhost)(?::\d{1,5})?(?![\w-]|\.\d)",
    "version": r"(?<![\w.-])(?:[vV]\d+(?:\.\d+)*|\d{1,4}(?:\.\d{1,6}){2,})(?:[-+][A-Za-z0-9.]*[A-Za-z0-9])?(?![\w,])",
    "dotted": r"(?<![\w.@/-])(?=[\w-]*[A-Za-z_])[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)?(?:\.[A-Za-z0-9_-]+)+(?::\d{1,5})?(?!\w)",
    "money": rf"{_CURRENCY}\s?(?:{_NUMBER})"
    rf"|(?<![\w.])(?:{_NUMBER})\s?(?:{_CURRENCY}|(?:USD|EUR|GBP|CHF|JPY|dollars?|euros?|Euro)\b|[元円원])",
    "percent": rf"(?<![\w.])[-+−]?(?:{_NUMBER})\s?"
    r"(?:[%٪]|(?:percent|per cent|Prozent|pour cent|por ciento|por cento|per cento|процент\w{0,3}|відсот\w{0,4})\b)",
    "mixed": r"(?<![A-Za-z0-9_-])(?=[A-Za-z_-]{0,64}\d)(?=[\d_-]{0,64}[A-Za-z])[A-Za-z0-9_-]+",
    "number": rf"(?<![A-Za-z0-9_.])(?:(?<![\w)])[-−])?(?:{_NUMBER})",
}
_CODES = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr", "₽": "rub", "₩": "krw", "元": "cny"} | {
    "円": "jpy",
    "원": "krw",
    "dollar": "usd",
    "dollars": "usd",
    "euro": "eur",
    "euros": "eur",
}


def read_form(form: str, match: Match[str]) -> Iterator[Value]:
    """Yield the values of one match of `ALTERNATIVES`; none when a closer look says that it is plain text."""
    surface = match[0]
    if form in ("url", "path"):
        surface = surface.rstrip(".,;:!?)*_")
        norm = surface.rstrip("/")
        if form == "url":
            scheme, _, rest = norm.partition("://")
            host, slash, path = rest.partition("/")
            norm = f"{scheme.lower()}://{host.lower()}{slash}{path}"
        if len(norm) > 1:
            yield Value(ValueType(form), norm, surface)
    elif form in ("email", "host"):
        yield Value(ValueType(form), surface.casefold(), surface)
    elif form == "version":
        yield Value(ValueType.VERSION, surface.lstrip("vV").casefold(), surface)
    elif form == "dotted":
        yield from _dotted(surface)
    elif form == "mixed":
        yield from _mixed(surface)
    elif form == "date":
        yield from _date(surface)
    elif form == "time":
        yield from _time(surface)
    elif form in ("money", "percent"):
        yield from _amount(form, surface)
    else:
        yield _number(match)


def _dotted(surface: str) -> Iterator[Value]:
    """Tell a file from a host and from a dotted identifier; a word after a missing space is none of them."""
    folded = surface.casefold()
    name, _, port = folded.partition(":")
    last = name.rpartition(".")[2]
    if last in members("extensions"):
        yield Value(ValueType.PATH, surface, surface)
    elif last in members("domains") and "/" not in name and "_" not in name:
        yield Value(ValueType.HOST, folded, surface)
    elif not port and surface == folded and len(last) > 1 and "/" not in surface and "-" not in surface:
        yield Value(ValueType.NAME, folded, surface)


def _mixed(surface: str) -> Iterator[Value]:
    """Read letters with digits: `4096MB` and `5-10ms` are numbers, `p95`, `gpt-4` and hashes are identifiers."""
    bare = surface.strip("-_")
    digits = bare.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    letters = bare[len(digits) :]
    sizes = [size for size in digits.split("-") if size]
    unit = _units().get(letters.casefold())
    if letters.casefold() == "k" and all(size.isdecimal() for size in sizes):
        for size in sizes:
            yield Value(ValueType.NUMBER, f"{int(size) * 1000}" if len(size) < 16 else size + "000", surface)
    elif unit and all(size.isdecimal() for size in sizes):
        for size in sizes:
            yield Value(ValueType.NUMBER, f"{quantity(size)} {unit}", surface)
    elif len(bare) >= 6 or bare[:1].isalpha():
        yield Value(ValueType.ID, bare.casefold(), surface)
    else:
        yield from (Value(ValueType.NUMBER, quantity(size), surface) for size in sizes[:1])


def _date(surface: str) -> Iterator[Value]:
    parts: list[str] = []
    for char in surface:
        if char.isdecimal():
            parts[-1:] = [parts[-1] + char] if parts else [char]
        elif parts and parts[-1]:
            parts.append("")
    numbers = [int(part) for part in parts if part]
    if len(numbers) == 1:
        yield Value(ValueType.MONTH, f"{numbers[0]:02}", surface)
    elif len(numbers) == 2 and len(str(numbers[0])) == 4:
        yield Value(ValueType.DATE, f"{numbers[0]:04}-{numbers[1]:02}", surface)
    elif len(numbers) == 2:
        yield Value(ValueType.DATE, f"--{numbers[0]:02}-{numbers[1]:02}", surface)
    elif len(numbers) == 3:
        first, second, third = numbers
        if first > 31:
            norm = f"{first:04}-{second:02}-{third:02}"
        elif "." in surface or first > 12:
            norm = f"{third:04}-{second:02}-{first:02}"
        elif second > 12:
            norm = f"{third:04}-{first:02}-{second:02}"
        else:
            norm = f"{third:04} {first:02}/{second:02}"  # which of them is the month depends on the country
        yield Value(ValueType.DATE, norm, surface)


def _time(surface: str) -> Iterator[Value]:
    lower = surface.casefold().replace(".", "")
    numbers = "".join(char if char.isdecimal() else " " for char in lower).split()
    hour = int(numbers[0])
    if lower.endswith("pm") and hour < 12:
        hour += 12
    elif lower.endswith("am") and hour == 12:
        hour = 0
    rest = (numbers[1:] or ["00"])[:2]
    yield Value(ValueType.TIME, ":".join([f"{hour:02}", *rest]), surface)


def _amount(form: str, surface: str) -> Iterator[Value]:
    size = "".join(char for char in surface if char.isdecimal() or char in ".,'_-−").strip(",'_")
    norm = quantity(size)
    if form == "money":
        mark = "".join(char for char in surface if not (char.isdecimal() or char.isspace() or char in ".,'_-−"))
        whole, dot, cents = norm.partition(".")
        norm = f"{whole if dot and not cents.strip('0') else norm} {_CODES.get(mark.casefold(), mark.casefold())}"
    yield Value(ValueType(form), norm, surface)


def _number(match: Match[str]) -> Value:
    text, end = match.string, match.end()
    space = 1 if text[end : end + 1] == " " else 0
    unit, taken = _unit_at(text, end + space)
    norm = quantity(match[0])
    surface = text[match.start() : end + space + taken] if unit else match[0]
    return Value(ValueType.NUMBER, f"{norm} {unit}" if unit else norm, surface)


def _unit_at(text: str, start: int) -> tuple[str, int]:
    """Return the unit that begins at `start`, and how many characters it takes."""
    end = start
    while end < len(text) and end - start < 16 and (KINDS[text[end]] or text[end] in "°"):
        end += 1
    word = text[start:end]
    if not word:
        return "", 0
    if KINDS[word[0]] in BIGRAM_SCRIPTS or KINDS[word[0]] == "hangul":
        for size in range(min(6, len(word)), 0, -1):
            if word[:size] in _units():
                return _units()[word[:size]], size
    unit = _units().get(fold(word), "")
    return unit, len(word) if unit else 0


@cache
def _units() -> dict[str, str]:
    return {form: unit for unit, forms in entries("units") for form in forms}


def quantity(written: str) -> str:
    """Return a number in one form: no grouping, a point for the decimals, no leading or idle zeros.

    `1,000` and `1.000.000` are grouped; `3,5` is 3.5; `3.10` keeps its zero, since it may be a version.
    """
    sign = "-" if written[0] in "-−" else ""
    digits = written.lstrip("+-−").replace("'", "").replace("_", "")
    groups = digits.split(",")
    if digits.count(".") > 1:
        digits = digits.replace(".", "").replace(",", ".")
    elif len(groups) > 1 and all(len(group.partition(".")[0]) == 3 for group in groups[1:]):
        digits = "".join(groups)
    else:
        digits = digits.replace(",", ".")
    whole, dot, rest = digits.partition(".")
    whole = whole.lstrip("0") or "0"
    return sign + (f"{whole}.{rest}" if dot and rest.strip("0") else whole)
