"""When a session is consolidated, and the steps between the store and whoever composes."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from assay.errors import InvalidInput
from assay.model.wrap import Composer, WrapPackage, WrapResult, WrapStatus
from assay.session.conversation import Conversation
from assay.session.engine import database_of
from assay.session.labels import label

if TYPE_CHECKING:
    from assay.session.session import Session

__all__ = ["NO_COMPOSER", "Steps", "drive", "rounds", "step"]

logger = logging.getLogger("assay.session")

Steps = Generator[str, str, WrapResult]
NO_COMPOSER: Final = WrapResult(WrapStatus.NOT_DUE, message="no composer was given")


def rounds(session: Session, *, now: bool) -> Steps:
    """Wrap in rounds until less than the trigger remains of what waited: yields prompts, receives texts.

    Args:
        now: Wrap whatever the policy says.
    """
    from assay.wrap.lifecycle import pending

    conversation, policy = session.conversation, session.options.wrap
    reason = "" if now else _not_now(session)
    if reason:
        return WrapResult(WrapStatus.NOT_DUE, message=reason)
    with conversation.home.store() as store, database_of(store).read() as reader:
        waiting = pending(reader)
        quiet = database_of(store).wall() - conversation.previous if conversation.previous else 0
    reason = "" if now else _too_few(session, waiting, timedelta(microseconds=quiet))
    if reason:
        return WrapResult(WrapStatus.NOT_DUE, message=reason)
    while True:
        result = yield from _round(conversation, policy.retries)
        if result.status is WrapStatus.NO_AUTHORITY and not conversation.told_no_authority:
            conversation.told_no_authority = True
            logger.warning("session %s may not wrap: %s", conversation.session, result.message)
        waiting -= result.episodes_compressed  # what came in meanwhile is for the next run's wrap
        if result.status is not WrapStatus.COMMITTED or not result.remaining or waiting < (policy.episodes or 1):
            return result


def drive(steps: Steps, session: Session, compose: Composer) -> WrapResult:
    """Let the policy's model, or else the agent's own, answer every prompt."""
    composer = session.options.wrap.model or compose
    asked = step(partial(next, steps))
    while isinstance(asked, str):
        try:
            with session.conversation.compose():
                text = _sync_text(composer(asked))
        except Exception as error:
            asked = step(partial(steps.throw, error))
        else:
            asked = step(partial(steps.send, text))
    return asked


def step(advance: Callable[[], str]) -> str | WrapResult:
    """Advance the steps: the next prompt, or how the wrap ended."""
    try:
        return advance()
    except StopIteration as stop:
        ended: WrapResult = stop.value
        return ended


def _round(conversation: Conversation, retries: int) -> Steps:
    """Do one wrap through the store's verbs, each with the store opened for it alone."""
    from assay.wrap.loop import Desk
    from assay.wrap.loop import conversation as converse

    home, session = conversation.home, label(conversation.session)

    def prepare() -> WrapPackage | WrapResult:
        with home.store() as store:
            return store.prepare_wrap(session=session)

    def save(text: str, token: str, mode: Literal["apply", "retry"]) -> WrapResult:
        with home.store() as store:
            return store.save_continuity(text, token, mode=mode, session=session, composer="model")

    def cancel(token: str) -> None:
        with home.store() as store:
            store.continuity.cancel(token, session=session)

    def count(text: str) -> int:
        with home.store() as store:
            return store.count_tokens(text)

    result = yield from converse(Desk(prepare, save, cancel, count), retries)
    return result


def _not_now(session: Session) -> str:
    """Say why it is not time to wrap, whatever waits, or ""."""
    conversation, policy = session.conversation, session.options.wrap
    if not session.root:
        return "a sub-agent does not wrap"
    if policy.episodes is None:
        return "the policy is manual"
    if conversation.run is not None:
        return "the run is still open"
    if conversation.failed:
        return "the run failed; its episodes stay in the window of the next wrap"
    return ""


def _too_few(session: Session, waiting: int, quiet: timedelta) -> str:
    """Say that too few episodes wait for a wrap, or ""."""
    conversation, policy = session.conversation, session.options.wrap
    due = policy.episodes or 1
    idle = policy.idle is not None and quiet >= policy.idle and waiting > conversation.recorded
    return "" if waiting >= due or idle else f"{waiting} episodes wait; a wrap is due at {due}"


def _sync_text(composed: str | Awaitable[str]) -> str:
    if isinstance(composed, str):
        return composed
    if isinstance(composed, Coroutine):
        composed.close()
    raise InvalidInput("compose", "it is async: use session.aio.wrap")
