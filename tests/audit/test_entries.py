"""An entry is written by hand, to the byte as a JSON library would."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.audit.log import decode, encode
from assay.model.labels import Trust
from assay.storage.transaction import Change, Entry

TEXTS = st.text(st.characters(), max_size=12)
CHANGES = st.lists(
    st.builds(Change, st.sampled_from(["episode", "setting"]), st.sampled_from("+~-"), TEXTS, st.none() | TEXTS),
    max_size=4,
)
DATA = st.dictionaries(TEXTS, st.none() | st.integers() | TEXTS | st.lists(TEXTS, max_size=2), max_size=3)


@given(TEXTS, TEXTS, st.none() | st.sampled_from(Trust), DATA, CHANGES, st.integers(0, 2**53), st.integers(0, 2**53))
def test_an_entry_is_compact_json_with_sorted_keys(
    actor: str, principal: str, trust: Trust | None, data: dict[str, Any], changes: list[Change], ts: int, wall: int
) -> None:
    entry = Entry("record", 7, ts, wall, actor, principal, trust, data)
    entry.written.update(((one.table, one.ref), one) for one in changes)
    plain = {
        "actor": actor, "op": "record", "principal": principal, "seq": 7, "ts": ts,
        "rows": [[one.table, one.action, one.ref, one.commitment] for one in entry.changes],
        **({"trust": trust.value} if trust else {}), **({"data": data} if data else {}),
        **({"wall": wall} if wall < ts else {}),
    }  # fmt: skip
    written = encode(entry)
    expected = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    assert written == expected.encode("utf-8", "surrogatepass")
    assert decode(written) == plain
