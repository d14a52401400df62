"""One value that a text states."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Value", "ValueType"]


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

    A number's form is its digits and, after a space, its unit in the singular: `30 second`, `-5`, `512 megabyte`.
    """

    type: ValueType
    norm: str
    surface: str

    @property
    def unit(self) -> str:
        """Return the unit of a number, or an empty string."""
        return self.norm.partition(" ")[2] if self.type is ValueType.NUMBER else ""

    def matches(self, other: "Value") -> bool:
        """Tell whether two values are the same, a number without a unit being any of that size."""
        if self.type is not other.type:
            return False
        if self.norm == other.norm:
            return True
        same_size = self.norm.partition(" ")[0] == other.norm.partition(" ")[0]
        return self.type is ValueType.NUMBER and same_size and not (self.unit and other.unit)
