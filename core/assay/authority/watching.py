"""The operator's probes as they are stored, and how the beliefs that they watch stand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.beliefs.loading import as_belief
from assay.model.labels import Residence
from assay.storage.audit_rows import mentioning
from assay.storage.reader import Reader
from assay.storage.transaction import Transaction

__all__ = ["Held", "Probe", "keep_probes", "probes_of", "standing"]

_SETTING = "probes"


@dataclass(frozen=True, slots=True)
class Probe:
    """A belief, or a statement, that an operator watches.

    Attributes:
        ref: Full id, `pr_` and 26 base32 characters.
        belief: Full id of the belief, "" for a statement.
        level: The least level of the belief.
        text: The statement, "" for a belief.
        section: Heading of the only section in which the statement is looked for, "" for all.
    """

    ref: str
    belief: str = ""
    level: int = 0
    text: str = field(default="", repr=False)
    section: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """How a belief stands; `retired` says that it rests for a stated reason."""

    level: int
    residence: Residence
    retired: bool = False


def probes_of(reader: Reader) -> list[Probe]:
    """Give what the operator watches, in the order in which it was set."""
    return [Probe(**row) for row in reader.setting(_SETTING) or ()]


def keep_probes(tx: Transaction, probes: Iterable[Probe]) -> None:
    """Write what the operator watches, in the caller's audit entry."""
    tx.put_setting(_SETTING, [asdict(probe) for probe in probes])


def standing(reader: Reader, probes: Iterable[Probe]) -> dict[str, Held]:
    """Say, by full id, how the watched beliefs stand."""
    rows = reader.find("belief", {"id": [probe.belief for probe in probes if probe.belief]})
    return {
        one.ref: Held(one.level, one.residence, one.residence is Residence.REST and _retired(reader, one.ref))
        for one in map(as_belief, rows)
    }


def _retired(reader: Reader, ref: str) -> bool:
    """Tell whether a belief was retired, by the operator or by a marker, when it was last written."""
    entries: list[dict[str, Any]] = [json.loads(entry) for _, entry in mentioning(reader, ref, -1)]
    wrote = [one for one in entries if any(row[2] == ref for row in one["rows"])]
    last: dict[str, Any] = wrote[-1] if wrote else {"op": ""}
    if last["op"] == "save":
        made = reader.find("wrap", {"n": last["data"]["wrap"]})
        return bool(made) and ref in json.loads(made[0]["detail"]).get("reasons", {})
    return bool(last.get("data", {}).get("verb") == "retire")
