"""A chat agent of CAMEL that tells its memory how its steps end, and whose clones remember as well."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from functools import partial
from typing import Any, cast

from camel.agents import ChatAgent
from camel.agents.chat_agent import AsyncStreamingChatAgentResponse, StreamingChatAgentResponse
from camel.memories import AgentMemory
from camel.messages import BaseMessage
from camel.responses import ChatAgentResponse

from assay.session import guard
from assay_integrations.camel_ai import events
from assay_integrations.camel_ai.composing import acompose, compose
from assay_integrations.camel_ai.items import words
from assay_integrations.camel_ai.memory import AssayAgentMemory
from assay_integrations.camel_ai.place import Seat, Step

__all__ = ["AssayChatAgent"]


class AssayChatAgent(ChatAgent):
    """A `ChatAgent` for an `AssayAgentMemory`; with any other memory it is like its parent.

    Args:
        system_message: As of `ChatAgent`, and so are `model` and everything else.
        memory: Without an inner memory it keeps the records where a `ChatAgent` would.

    Example:
        memory = AssayAgentMemory("memory/{user}.db", user="ada")
        agent = AssayChatAgent("You are helpful.", model=model, memory=memory)
        agent.step("When do deploys go out?")
    """

    def __init__(
        self,
        system_message: BaseMessage | str | None = None,
        model: Any = None,
        memory: AgentMemory | None = None,
        **settings: Any,
    ) -> None:
        waits = isinstance(memory, AssayAgentMemory) and memory.inner is None
        settings |= {"model": model, "memory": None if waits else memory}
        cast("Any", super()).__init__(system_message, **settings)
        if isinstance(memory, AssayAgentMemory) and waits:
            self._remember_in(memory)

    def clone(self, with_memory: bool = False) -> ChatAgent:
        """Make another agent of the same settings; one that remembers has a clone that remembers.

        The host's own clone is a plain `ChatAgent` with a memory of the host's.
        """
        made = super().clone(with_memory)
        made.__class__ = type(self)
        if isinstance(self.memory, AssayAgentMemory) and isinstance(made, AssayChatAgent):
            made._remember_in(self.memory.again())
        return made

    # -- a step ----------------------------------------------------------------------------------------------------

    def step(
        self, input_message: BaseMessage | str, response_format: type[Any] | None = None
    ) -> ChatAgentResponse | StreamingChatAgentResponse:
        """Answer a message; the memory records the step and briefs every call of a model in it."""
        response: ChatAgentResponse | StreamingChatAgentResponse
        seat = self._seat
        if seat is None:
            response = super().step(input_message, response_format)
        elif self._streams:
            response = StreamingChatAgentResponse(self._streamed(seat, input_message, response_format))
        else:
            step = seat.begin(words(input_message), whole=True)
            with seat.within(step), seat.sessions.calling(step.session):
                response = super().step(input_message, response_format)
            self._end(seat, step, response)
        return response

    async def astep(
        self, input_message: BaseMessage | str, response_format: type[Any] | None = None
    ) -> ChatAgentResponse | AsyncStreamingChatAgentResponse:
        """Do the same from an event loop."""
        response: ChatAgentResponse | AsyncStreamingChatAgentResponse
        seat = self._seat
        if seat is None:
            response = await super().astep(input_message, response_format)
        elif self._streams:
            response = AsyncStreamingChatAgentResponse(self._astreamed(seat, input_message, response_format))
        else:
            step = await seat.abegin(words(input_message))
            try:
                with seat.within(step), seat.sessions.calling(step.session):
                    response = await super().astep(input_message, response_format)
            finally:
                await step.settled()
            await self._aend(seat, step, response)
        return response

    # -- inside ----------------------------------------------------------------------------------------------------

    def _streamed(
        self, seat: Seat, asked: BaseMessage | str, response_format: type[Any] | None
    ) -> Generator[ChatAgentResponse, None, None]:
        """Step as whoever reads the stream asks for its pieces; a stream that is left early leaves the run open."""
        step, last = seat.begin(words(asked), whole=True), None
        stream: Any = super().step(asked, response_format)
        with seat.within(step):
            for last in stream:
                yield last
        self._end(seat, step, last, heard=True)

    async def _astreamed(
        self, seat: Seat, asked: BaseMessage | str, response_format: type[Any] | None
    ) -> AsyncGenerator[ChatAgentResponse, None]:
        step, last = await seat.abegin(words(asked)), None
        stream: Any = await super().astep(asked, response_format)
        try:
            with seat.within(step):
                async for last in stream:
                    yield last
        finally:
            await step.settled()
        await self._aend(seat, step, last, heard=True)

    def _end(self, seat: Seat, step: Step, response: Any, *, heard: bool = False) -> None:
        """Close the run, and let the model that was used last consolidate if it is time."""
        session, model = step.session, self.model_backend.current_model
        seat.sessions.keep_model(session, model)
        told = partial(events.answered, session, response, heard=heard)
        if guard.value(session, told, False, "run_ended"):
            seat.sessions.wrap(session, compose)

    async def _aend(self, seat: Seat, step: Step, response: Any, *, heard: bool = False) -> None:
        session, model = step.session, self.model_backend.current_model
        seat.sessions.keep_model(session, model)
        over = False
        with guard(session, "run_ended"):
            over = await session.aio.run(partial(events.answered, session, response, heard=heard))
        if over:
            await seat.sessions.awrap(session, acompose)

    def _remember_in(self, memory: AssayAgentMemory) -> None:
        """Put a memory around the one that the host has made, before a word was said."""
        kept = self.memory
        held = [one.memory_record for one in kept.retrieve()]
        kept.clear()
        memory.inner, memory.agent_id = kept, self.agent_id
        self.memory = memory  # the host writes its system message into it; a clone with a history has none
        if self.system_message is None:
            kept.write_records(held)

    @property
    def _seat(self) -> Seat | None:
        return self.memory.seat if isinstance(self.memory, AssayAgentMemory) else None

    @property
    def _streams(self) -> bool:
        return bool(self.model_backend.model_config_dict.get("stream", False))
