"""The clauses of the contract, by what they are about."""

import pytest

# Their assertions show what differed, as those of test modules do.
pytest.register_assert_rewrite(*(f"{__name__}.{name}" for name in (
    "faults", "house", "injection", "isolation", "loops", "manners", "recording", "runs", "wrapping",
)))  # fmt: skip
