"""What a run of the Agents SDK tells a session: one method for each thing that its hooks see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from agents import (
    InputGuardrailTripwireTriggered,
    ModelResponse,
    OutputGuardrailTripwireTriggered,
    RunState,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrailTripwireTriggered,
    TResponseInputItem,
)
from agents.run import ModelInputData

from assay.session import Placement, Session, arguments_of
from assay_integrations.openai_agents import items

__all__ = ["Events", "Given"]

Given = str | list[TResponseInputItem] | RunState[Any]

_TRIPWIRES = (
    InputGuardrailTripwireTriggered,
    OutputGuardrailTripwireTriggered,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrailTripwireTriggered,
)


class Events:
    """Tells a session what one run does. What is to be recorded is one step on the thread of the store: none overlap.

    Args:
        given: The run's input. A `RunState` goes on with the run that it was taken from.
    """

    def __init__(self, session: Session, given: Given) -> None:
        self.session = session
        self._given = None if isinstance(given, RunState) else given
        self._calls: dict[str, str] = {}
        # The newest answer and who gave it. It is recorded when the run goes on, or has ended: until then a guardrail
        # may reject it, and what was rejected is not remembered.
        self._held: tuple[str, str] | None = None

    def began(self) -> None:
        """The run begins, with what the person said."""
        given, self._given = self._given, None
        if given is not None:
            self.session.run_started()
            for text in items.words(given):
                self.session.user_message(text)

    @property
    def holds(self) -> bool:
        """Tell whether an answer waits to be released."""
        return self._held is not None

    async def briefed(self, data: ModelInputData) -> ModelInputData:
        """A model is about to be called: give the data as it is to receive them."""
        place, asks = items.question(data.input, self.session.asked)
        text = (await self.session.aio.briefing(asks)).text
        if not text:
            return data
        if self.session.options.placement is Placement.SYSTEM:
            return replace(data, instructions="\n\n".join(filter(None, (data.instructions, text))))
        ours = cast("Sequence[TResponseInputItem]", [{"role": "user", "content": text}])
        return replace(data, input=[*data.input[:place], *ours, *data.input[place:]])

    def said(self, agent: str, response: ModelResponse) -> None:
        """A model has answered."""
        text = items.spoken(response)
        self._held = (agent, text) if text else None

    def released(self) -> None:
        """The run goes on, or waits: nothing rejects the newest answer any more."""
        held, self._held = self._held, None
        if held is not None:
            agent, text = held
            self.session.named(agent).agent_message(text)

    def called(self, agent: str, name: str, arguments: str, call_id: str | None) -> None:
        """A tool is about to be called."""
        self.released()
        if call_id is not None:
            self._calls[call_id] = name
        self.session.named(agent).tool_call(name, arguments_of(arguments), call_id=call_id)

    def returned(self, name: str, result: object, call_id: str | None) -> None:
        """A tool has given something, or the host an apology for one that failed."""
        self.session.tool_result(name, items.output(result), call_id=call_id)

    def broke(self, call_id: str, error: Exception) -> None:
        """A tool has raised; one that an agent inside a tool called is not of this run."""
        name = self._calls.get(call_id)
        if name is not None:
            self.session.tool_error(name, error, call_id=call_id)

    def handed_off(self, source: str, target: str) -> None:
        """Another agent takes over."""
        self.released()
        self.session.handoff(source, target)

    def ended(self, agent: str, output: object) -> None:
        """The run has given its output."""
        held = self._held
        self.released()
        self.session.named(agent).run_ended(held[1] if held else output)

    def failed(self, error: Exception) -> None:
        """The run has raised, perhaps before any hook; a guardrail that stops it is no failure."""
        self.began()
        if isinstance(error, _TRIPWIRES):
            self._held = None
            self.session.end()
        else:
            self.released()
            self.session.run_failed(error)
