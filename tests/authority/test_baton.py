"""The baton is held by one session, without expiry, and changes hands only when it is taken."""

from __future__ import annotations

import pytest

from assay import Store
from assay.errors import InvalidInput, NotAuthorised
from assay.model.schema import Role, Schema, SectionSpec
from assay.model.wrap import WrapStatus
from assay.session import SessionKey, SessionOptions, StoreRouter, WrapPolicy
from assay.wrap.schemas import check_schema, read_schema


def test_claiming_again_changes_nothing_and_taking_over_is_audited() -> None:
    with Store(":memory:") as store:
        store.authority.claim("one")
        head = store.audit.head()
        store.authority.claim("one")
        assert store.audit.head() == head
        with pytest.raises(NotAuthorised, match="'one' holds the baton"):
            store.authority.claim("two")
        store.authority.claim("two", take=True)
        assert store.authority.baton() == "two"
        assert store.audit.entries()[-1]["data"] == {"from": "one", "session": "two"}


def test_the_strict_policy_needs_the_baton() -> None:
    with Store(":memory:", policy="strict") as store:
        store.record("Deploys go out on Tuesday")
        assert store.wrap().findings[0].rule == "authority"


def _schema(*sections: tuple[str, Role, bool]) -> Schema:
    return Schema("mine", tuple(SectionSpec(heading, role, optional) for heading, role, optional in sections))


@pytest.mark.parametrize(
    "schema",
    [
        _schema(("State", Role.LIVE_STATE, False)),
        _schema(("Rules", Role.GRADUATING, True)),
        _schema(("Rules", Role.GRADUATING, False), ("rules", Role.NARRATIVE, False)),
        _schema(("Rules", Role.GRADUATING, False), ("My Rules", Role.NARRATIVE, False)),
        _schema(("Rules", Role.GRADUATING, False), ("A", Role.DURABLE, True), ("B", Role.DURABLE, True)),
        _schema(("##", Role.GRADUATING, False)),
    ],
)
def test_a_schema_that_could_not_be_checked_is_refused(schema: Schema) -> None:
    with pytest.raises(InvalidInput):
        check_schema(schema)


@pytest.mark.parametrize("stored", ['{"name": "x"}', '{"name": "x", "sections": [{"heading": "A"}]}', "[]"])
def test_a_stored_schema_that_cannot_be_read_fails_closed(stored: str) -> None:
    with pytest.raises(InvalidInput):
        read_schema(stored)


def test_the_only_session_at_work_needs_no_baton_where_the_operator_says_so() -> None:
    with Store(":memory:", requires_baton=True, session="one") as store:
        store.record("Deploys go out on Tuesday")
        assert store.wrap().status is WrapStatus.NO_AUTHORITY
        store.authority.set(allow_sole_live=True)
        with StoreRouter(store) as router:
            other = router.session(SessionKey(None, "two"), options=SessionOptions(wrap=WrapPolicy.manual()))
            other.user_message("Deploys are fun")
            assert store.wrap().status is WrapStatus.NO_AUTHORITY
            other.end()
        assert store.wrap().status is WrapStatus.COMMITTED
        store.record("Deploys go out on Wednesday")
        store.authority.claim("two")
        assert store.wrap().status is WrapStatus.NO_AUTHORITY


def test_under_the_strict_policy_being_alone_is_no_permission() -> None:
    with Store(":memory:", policy="strict") as store:
        store.authority.set(allow_sole_live=True)
        store.record("Deploys go out on Tuesday")
        assert store.wrap().status is WrapStatus.NO_AUTHORITY
