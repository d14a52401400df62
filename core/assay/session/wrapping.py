"""When a session is consolidated, and the steps between the store and whoever composes."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from datetime import timedelta
from functools import partial

from assay.errors import InvalidInput
from assay.model.wrap import Composer, WrapResult, WrapStatus
from assay.session.conversation import Conversation
from assay.session.labels import label
from assay.storage.database import Database

__all__ = ["Steps", "drive", "rounds", "step"]

logger = logging.getLogger("assay.session")

Steps = Generator[str, str, WrapResult]


def rounds(conversation: Conversation, *, root: bool, now: bool) -> Steps:
    """Wrap in rounds until no more than the trigger remains: yields prompts, receives texts.

    Args:
        root: False for a sub-agent, which never wraps.
        now: Wrap whatever the policy says.
    """
    policy = conversation.options.wrap
    with conversation.home.store() as store:
        reason = _not_due(conversation, store._database, root=root, now=now)
    if reason:
        return WrapResult(WrapStatus.NOT_DUE, message=reason)
    trigger = policy.episodes or 1
    while True:
        with conversation.home.store() as store:
            steps = _round(store, label(conversation.session), policy.retries)
        result = yield from _watched(conversation, steps)
        if result.status is not WrapStatus.COMMITTED or result.remaining < trigger:
            _say_once(conversation, result)
            return result


def _round(store: Store, session: str, retries: int) -> Steps:
    """Prepare one wrap, and save what is composed; findings go back to the composer until no try is left."""
    from assay.wrap.feedback import feedback, holding

    package = store.prepare_wrap(session=session)
    if isinstance(package, WrapResult):
        return package
    prompt, result = package.prompt, WrapResult(WrapStatus.EMPTY)
    try:
        for left in range(retries, -1, -1):
            text = yield prompt
            mode: Literal["apply", "retry"] = "retry" if left else "apply"
            result = store.save_continuity(text, package.token, mode=mode, session=session, composer="model")
            if result.status is not WrapStatus.REFUSED:
                return result
            prompt = f"{package.prompt}\nYour answer was:\n{text}\n\n{feedback(holding(result.findings))}\n"
    except Exception as error:
        store.continuity.cancel(package.token, session=session)
        raise
    store.continuity.cancel(package.token, session=session)
    return result


def drive(steps: Steps, conversation: Conversation, compose: Composer) -> WrapResult:
    """Let the policy's model, or else the agent's own, answer every prompt."""
    composer = conversation.options.wrap.model or compose
    asked = step(partial(next, steps))
    while isinstance(asked, str):
        try:
            with conversation.compose():
                text = _sync_text(composer(asked))
        except Exception as error:
            asked = step(partial(steps.throw, error))
        else:
            asked = step(partial(steps.send, text))
    return asked


def _sync_text(composed: str | Awaitable[str]) -> str:
    if isinstance(composed, str):
        return composed
    if isinstance(composed, Coroutine):
        composed.close()
    raise InvalidInput("compose", "it is async: use session.aio.wrap")


def step(advance: Callable[[], str]) -> str | WrapResult:
    """Advance the steps: the next prompt, or how the wrap ended."""
    try:
        return advance()
    except StopIteration as stop:
        ended: WrapResult = stop.value
        return ended


def _watched(conversation: Conversation, steps: Steps) -> Steps:
    """Keep the store open, and count its failures, during each step, but not while a model composes."""
    with conversation.home.store():
        asked = step(partial(next, steps))
    while isinstance(asked, str):
        try:
            text = yield asked
        except Exception as error:
            asked = step(partial(steps.throw, error))
        else:
            with conversation.home.store():
                asked = step(partial(steps.send, text))
    return asked


def _not_due(conversation: Conversation, database: Database, *, root: bool, now: bool) -> str:
    """Say why it is not time to wrap, or "" when it is."""
    from assay.wrap.lifecycle import pending

    policy = conversation.options.wrap
    if now:
        return ""
    if not root:
        return "a sub-agent does not wrap"
    if policy.episodes is None:
        return "the policy is manual"
    if conversation.run is not None:
        return "the run is still open"
    if conversation.failed:
        return "the run failed; its episodes stay in the window of the next wrap"
    with database.read() as reader:
        waiting = pending(reader)
    if waiting >= policy.episodes:
        return ""
    before = waiting - conversation.recorded
    if policy.idle is not None and before > 0 and conversation.previous:
        if timedelta(microseconds=database.wall() - conversation.previous) >= policy.idle:
            return ""
    return f"{waiting} episodes wait; a wrap is due at {policy.episodes}"


def _say_once(conversation: Conversation, result: WrapResult) -> None:
    if result.status is WrapStatus.NO_AUTHORITY and not conversation.told_no_authority:
        conversation.told_no_authority = True
        logger.warning("session %s may not wrap: %s", conversation.session, result.message)
