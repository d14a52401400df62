"""What the messages of Haystack mean to a memory: each function tells a session what one hook has seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from types import MappingProxyType
from typing import Any, cast

from assay.session import Placement, Session, question_in
from assay_integrations.haystack.place import Run
from haystack.components.agents.state import State, replace_values
from haystack.dataclasses import ChatMessage, ChatRole, TextContent

__all__ = ["AT", "abriefed", "add", "clean"]

# In the metadata of a message that we have put among the host's: nothing of it reaches a model.
_MARK = "assay"


def began(run: Run, state: State) -> None:
    """A run begins, with what the person said: the messages of the user behind the last answer."""
    run.session.run_started()
    newest = takewhile(lambda message: not message.is_from(ChatRole.ASSISTANT), reversed(state.data["messages"]))
    for message in reversed([message for message in newest if message.is_from(ChatRole.USER)]):
        run.session.user_message(_words(message))


def briefed(run: Run, state: State) -> None:
    """A model is about to be called: record what is new, and brief it."""
    told(run, state)
    _place(run, state, run.session.briefing().text)


async def abriefed(run: Run, state: State) -> None:
    """Do the same from an event loop."""
    if not all(id(message) in run.told for message in state.data["messages"]):
        await run.session.aio.run(partial(told, run, state))
    _place(run, state, (await run.session.aio.briefing()).text)


def _place(run: Run, state: State, text: str) -> None:
    """Put what memory holds before the question, or behind the system text."""
    if not text:
        return
    messages: list[ChatMessage] = state.data["messages"]
    if run.session.options.placement is Placement.DATA:
        # Hooks of the user's may have put others behind it.
        users = {place: _words(one) for place, one in enumerate(messages) if one.is_from(ChatRole.USER)}
        place, _ = question_in(users, run.session.asked, len(messages))
        messages = [*messages[:place], ChatMessage.from_user(text, meta={_MARK: ""}), *messages[place:]]
    else:
        systems = [message for message in messages if message.is_from(ChatRole.SYSTEM)]
        before = (systems[0].text if systems else None) or ""
        ours = ChatMessage.from_system(f"{before}\n\n{text}".strip(), meta={_MARK: before})
        messages = [ours, *(message for message in messages if message not in systems[:1])]
    state.set("messages", messages, handler_override=replace_values)


def told(run: Run, state: State) -> None:
    """A model has answered, or tools have: record what is new."""
    for message in state.data["messages"]:
        if id(message) not in run.told:
            run.told[id(message)] = message
            _tell(run.session, message)


def ended(run: Run, state: State) -> None:
    """A run is over, at an answer, at a tool that ends it, or at the limit of its steps."""
    told(run, state)
    run.session.run_ended(None)


AT: Mapping[str, Callable[[Run, State], None]] = MappingProxyType(
    {"before_run": began, "before_llm": briefed, "before_tool": told, "after_tool": told, "after_run": ended}
)


def clean(state: State) -> None:
    """Take out what was put among the messages: nobody but the model sees it."""
    messages: list[ChatMessage] = state.data["messages"]
    if any(_MARK in message.meta for message in messages):
        kept = [message for message in map(_restored, messages) if message is not None]
        state.set("messages", kept, handler_override=replace_values)


def add(session: Session, messages: Sequence[ChatMessage]) -> int:
    """Record messages of a conversation that is held elsewhere, as a run, and give their number."""
    session.run_started()
    for message in messages:
        if message.is_from(ChatRole.USER):
            session.user_message(_words(message))
        else:
            _tell(session, message)
    session.run_ended(None)
    return len(messages)


def _tell(session: Session, message: ChatMessage) -> None:
    """Record what an agent or its tools say in a message."""
    if message.is_from(ChatRole.ASSISTANT):
        if message.text:
            session.agent_message("\n".join(message.texts))
        for call in message.tool_calls:
            session.tool_call(call.tool_name, call.arguments, call_id=call.id)
    for result in message.tool_call_results:
        if result.error:
            session.tool_error(result.origin.tool_name, str(_plain(result.result)), call_id=result.origin.id)
        else:
            session.tool_result(result.origin.tool_name, _plain(result.result), call_id=result.origin.id)


def _restored(message: ChatMessage) -> ChatMessage | None:
    if _MARK not in message.meta:
        return message
    return ChatMessage.from_system(message.meta[_MARK]) if message.meta[_MARK] else None


def _words(message: ChatMessage) -> str:
    """Give the text of a message in which media are named, never dumped."""
    media = [*message.images, *message.files]
    return "\n".join([*message.texts, *(f"[{type(one).__name__}]" for one in media)])


def _plain(result: Any) -> Any:
    """Give the result of a tool, which may consist of texts and media."""
    if not isinstance(result, (list, tuple)):
        return result
    parts: Sequence[object] = cast("Sequence[object]", result)
    return "\n".join(part.text if isinstance(part, TextContent) else f"[{type(part).__name__}]" for part in parts)
