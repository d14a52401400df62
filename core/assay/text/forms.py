"""Values, and those forms of them that a pattern can tell: addresses, paths, dates, times, versions, amounts."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from re import Match

from assay.text.lexicon import members, table
from assay.text.normal import fold
from assay.text.script import SPACELESS, classes

__all__ = ["Value", "ValueType", "read_form"]


class ValueType(StrEnum):
    """Type of a value; values of different types are never equal."""

    NUMBER = "number"
    PERCENT = "percent"
    MONEY = "money"
    DATE = "date"
    WEEKDAY = "weekday"
    MONTH = "month"
    TIME = "time"
    VERSION = "version"
    URL = "url"
    HOST = "host"
    EMAIL = "email"
    PATH = "path"
    ID = "id"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Value:
    """One value: its type, the form in which values compare, and how the text writes it.

    A number's form is its digits and, after a space, its unit as `units.txt` names it: `30 s`, `-5`, `512 mb`.
    """

    type: ValueType
    norm: str
    surface: str

    def matches(self, other: "Value") -> bool:
        """Tell whether two values are the same, a number without a unit being any of that size."""
        (size, _, unit), (other_size, _, other_unit) = self.norm.partition(" "), other.norm.partition(" ")
        bare = self.type is ValueType.NUMBER and size == other_size and not (unit and other_unit)
        return self.type is other.type and (self.norm == other.norm or bare)


def read_form(form: str, match: Match[str]) -> Iterator[Value]:
    """Yield the values of one match of `forms.txt`; none when a closer look says that it is plain text."""
    surface = match[0]
    if form in ("url", "path"):
        surface = surface.rstrip(".,;:!?)*_")
        scheme, mark, rest = surface.rstrip("/").partition("://")
        host, slash, path = rest.partition("/")
        if len(scheme) > 1:
            yield Value(
                ValueType(form), f"{scheme.lower()}{mark}{host.lower()}{slash}{path}" if mark else scheme, surface
            )
    elif form in ("email", "host", "version"):
        yield Value(ValueType(form), surface.casefold().lstrip("v" if form == "version" else ""), surface)
    elif form in ("dotted", "mixed"):
        yield from _dotted(surface) if form == "dotted" else _mixed(surface)
    elif form in ("date", "time"):
        yield _date(surface) if form == "date" else _time(surface)
    elif form in ("money", "percent"):
        yield _amount(ValueType(form), surface)
    else:
        unit, end = _unit_after(match.string, match.end())
        yield Value(ValueType.NUMBER, f"{_quantity(surface)} {unit}".rstrip(), match.string[match.start() : end])


def _dotted(surface: str) -> Iterator[Value]:
    """Tell a file from a host and from a dotted identifier; a word after a missing space is none of them."""
    folded = surface.casefold()
    name, _, port = folded.partition(":")
    last = name.rpartition(".")[2]
    if last in members("extensions"):
        yield Value(ValueType.PATH, surface, surface)
    elif last in members("domains") and name.isascii() and not {"/", "_"} & set(name):
        yield Value(ValueType.HOST, folded, surface)
    elif surface == folded and len(last) > 1 and not port and not {"/", "-"} & set(surface):
        yield Value(ValueType.NAME, folded, surface)


def _mixed(surface: str) -> Iterator[Value]:
    """Read letters with digits: `4096MB` and `5-10ms` are numbers, `p95`, `gpt-4` and hashes are identifiers."""
    plain = surface.strip("-_").casefold()
    digits = plain.rstrip("abcdefghijklmnopqrstuvwxyz")
    sizes, letters = digits.strip("-").split("-"), plain[len(digits) :]
    counted = all(map(str.isdecimal, sizes))
    if counted and (letters == "k" or letters in table("units")):
        unit = f" {table('units')[letters]}" if letters != "k" else ""
        for size in sizes:
            yield Value(ValueType.NUMBER, _quantity(size + "000" * (letters == "k")) + unit, surface)
    elif len(plain) >= 6 or plain[:1].isalpha():
        yield Value(ValueType.ID, plain, surface)
    elif counted:
        yield Value(ValueType.NUMBER, _quantity(sizes[0]), surface)


def _digits(surface: str) -> list[str]:
    return "".join(char if char.isdecimal() else " " for char in surface).split()


def _date(surface: str) -> Value:
    numbers = [int(part) for part in _digits(surface)]
    first, second, third = [*numbers, 0, 0][:3]
    if len(numbers) == 1:
        return Value(ValueType.MONTH, f"{first:02}", surface)
    if len(numbers) == 2:
        norm = f"{first:04}-{second:02}" if first > 31 else f"--{first:02}-{second:02}"
    elif first > 31:
        norm = f"{first:04}-{second:02}-{third:02}"
    elif "." in surface or first > 12:
        norm = f"{third:04}-{second:02}-{first:02}"
    else:  # 5/6/2024: which of the two is the month depends on the country
        norm = f"{third:04}-{first:02}-{second:02}" if second > 12 else f"{third:04} {first:02}/{second:02}"
    return Value(ValueType.DATE, norm, surface)


def _time(surface: str) -> Value:
    lower = surface.casefold().replace(".", "")
    hour, *rest = _digits(lower)
    shift = 12 * (lower.endswith("pm") and int(hour) < 12) - 12 * (lower.endswith("am") and int(hour) == 12)
    return Value(ValueType.TIME, ":".join([f"{int(hour) + shift:02}", *(rest or ["00"])]), surface)


def _amount(kind: ValueType, surface: str) -> Value:
    number = "".join(char for char in surface if char.isdecimal() or char in ".,'_-−").strip(",'_.")
    norm = _quantity(number)
    if kind is ValueType.MONEY:
        mark = fold("".join(char for char in surface if not (char.isdecimal() or char.isspace() or char in ".,'_-−")))
        code = table("currencies").get(mark, mark)
        norm = f"{norm} {code}"
    return Value(kind, norm, surface)


def _unit_after(text: str, end: int) -> tuple[str, int]:
    """Return the unit that follows a number, and where it ends; without one, where the number ends."""
    start = end + (text[end : end + 1] == " ")
    shape = classes(text[start : start + 16])
    size = next((place for place, kind in enumerate(shape) if not kind.isalpha()), len(shape))
    word = text[start : start + size]
    if shape[:1] in (*SPACELESS, "k"):  # no space need follow: the longest beginning that is a unit counts
        size = next((length for length in range(min(size, 8), 0, -1) if word[:length] in table("units")), 0)
    unit = table("units").get(fold(word[:size]), "")
    return unit, start + size if unit else end


def _quantity(written: str) -> str:
    """Return a number in one form: no grouping, a point for the decimals, no leading zeros.

    `1,000` and `1.000.000` are grouped; `3,5` is 3.5; `3.10` keeps its zero, since it may be a version.
    """
    digits = written.lstrip("-−").replace("'", "").replace("_", "")
    groups = digits.split(",")
    if digits.count(".") > 1:
        digits = digits.replace(".", "").replace(",", ".")
    elif len(groups) > 1 and all(len(group.partition(".")[0]) == 3 for group in groups[1:]):
        digits = "".join(groups)
    whole, _, rest = digits.replace(",", ".").partition(".")
    sign = "-" if written[0] in "-−" else ""
    return sign + (whole.lstrip("0") or "0") + (f".{rest}" if rest.strip("0") else "")
