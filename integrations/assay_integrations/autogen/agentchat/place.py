"""Where a hook of AutoGen stands: in which conversation, and in whose run.

Neither a context nor a memory is told of a user, a session or a run: all of them are bound to a conversation.
"""

from __future__ import annotations

from collections.abc import Iterable

from autogen_core.models import ChatCompletionClient

from assay.session import SessionKey, SessionOptions, StoreRouter, Talk, Target
from assay.session import Sessions as Shared

__all__ = ["PERSON", "ClientTalk", "Sessions", "talk_of"]

PERSON = "user"
ClientTalk = Talk[ChatCompletionClient]


class Sessions(Shared[ChatCompletionClient]):
    """Holds the stores of one conversation, or of those that share a router."""

    def __init__(self, target: Target | StoreRouter, options: SessionOptions | None) -> None:
        super().__init__(target, options, host="autogen")


def talk_of(
    target: Target | StoreRouter,
    key: SessionKey,
    client: ChatCompletionClient | None,
    people: Iterable[str],
    options: SessionOptions | None,
) -> ClientTalk:
    """Begin a conversation, or go on with it; what its agents hear in the name of a person is the person's.

    Args:
        client: Composes.

    Raises:
        MissingUser: The target holds a store per user and the key names none.
    """
    talk = ClientTalk.of(Sessions(target, options), key, {PERSON, *people})
    if client is not None:
        talk.sessions.keep_model(talk.session, client)
    return talk
