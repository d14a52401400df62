"""A model of DSPy that says what a script says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import dspy

from assay.testing import Call, Say, Script

__all__ = ["STREAMS", "scripted_model"]

# Models were litellm's, or gave no pieces, before they could be given an engine.
STREAMS = hasattr(dspy, "lm15")
_FIELD = re.compile(r"^\[\[ ## (\w+) ## \]\]\n?", re.MULTILINE)
_REMINDER = "Respond with the corresponding output fields"
_ROLES = {"question": "user", "answer": "assistant"}

Messages = list[tuple[str, str]]


def scripted_model(script: Script, agent: str = "main") -> dspy.BaseLM:
    """Make a model that answers from the lane of one agent."""
    answers = Answers(script, agent)
    if not STREAMS:
        return ScriptedModel(answers)
    return dspy.LM(
        "scripted/model", cache=False, num_retries=0, engine=Engine(answers), async_engine=AsyncEngine(answers)
    )


class Answers:
    """Speaks the format of `ChatAdapter` for the three prompts of a `ReAct` agent, and plainly for a wrap.

    An answer of the script is two calls of the model: that it has finished, and then what it extracts. The script's
    log has the first of them.

    Attributes:
        received: The prompts to the letter, each a list of role and text.
    """

    def __init__(self, script: Script, agent: str) -> None:
        self.received: list[Messages] = []
        self._script = script
        self._agent = agent
        self._said: dict[str, str] = {}

    def reply(self, messages: Messages) -> str:
        self.received.append(messages)
        told = list(_told(messages))
        asked = next(text for role, text in reversed(told) if role == "user")
        system = messages[0][1] if messages[0][0] == "system" else ""
        if "`reasoning`" in system:
            return _fields(reasoning="As I have seen.", answer=self._said[asked])
        step = self._script.reply(told, agent=self._agent)
        match step:
            case Call():
                return _step(step.name, json.dumps(dict(step.args)))
            case Say() if not system:
                return str(step.text)
            case Say():
                self._said[asked] = str(step.text)
                return _step("finish", "{}")
        raise NotImplementedError("no module takes over from another")


class ScriptedModel(dspy.BaseLM):  # type: ignore[misc]
    """The model for releases that know no engine."""

    def __init__(self, answers: Answers) -> None:
        super().__init__("scripted/model", cache=False)
        self.answers = answers

    def forward(self, prompt: Any = None, messages: Any = None, **more: Any) -> Any:
        given = messages or [{"role": "user", "content": prompt}]
        text = self.answers.reply([(one["role"], one["content"]) for one in given])
        choice = SimpleNamespace(message=SimpleNamespace(content=text), finish_reason="stop")
        return SimpleNamespace(choices=[choice], usage={}, model=self.model)

    async def aforward(self, prompt: Any = None, messages: Any = None, **more: Any) -> Any:
        return self.forward(prompt, messages)


class Engine:
    """What a model of newer releases is run by."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers

    def complete(self, request: Any) -> Any:
        from dspy.lm15 import Message, Response, TextPart, Usage

        system = request.system or ""
        told = [("system", system if isinstance(system, str) else "".join(part.text for part in system))]
        text = self.answers.reply(
            [one for one in [*told, *((message.role, message.text or "") for message in request.messages)] if one[1]]
        )
        return Response(
            id=None,
            model="scripted",
            message=Message.assistant([TextPart(text)]),
            finish_reason="stop",
            usage=Usage(input_tokens=1, output_tokens=1, total_tokens=2),
        )

    def stream(self, request: Any) -> Any:
        from dspy.lm15 import StreamDeltaEvent, StreamEndEvent, StreamStartEvent, TextDelta

        response = self.complete(request)
        yield StreamStartEvent(model=response.model)
        for place, word in enumerate(response.message.text.split(" ")):
            yield StreamDeltaEvent(delta=TextDelta(f" {word}" if place else word))
        yield StreamEndEvent(finish_reason="stop", usage=response.usage)

    def close(self) -> None:
        """There is nothing to close."""


class AsyncEngine:
    def __init__(self, answers: Answers) -> None:
        self._engine = Engine(answers)

    async def complete(self, request: Any) -> Any:
        return self._engine.complete(request)

    async def stream(self, request: Any) -> Any:
        for event in self._engine.stream(request):
            yield event

    async def aclose(self) -> None:
        """There is nothing to close."""


def _told(messages: Messages) -> Iterator[tuple[str, str]]:
    """Give the messages without what the adapter writes around the words of a person, an agent and a tool."""
    for role, text in messages:
        _, *parts = _FIELD.split(text)
        if role == "system" or not parts or text.startswith("<memory-"):
            yield role, text
            continue
        for name, value in zip(parts[::2], parts[1::2], strict=True):
            speaker = "tool" if name.startswith("observation_") else _ROLES.get(name)
            if speaker is not None:
                yield speaker, value.partition(_REMINDER)[0].strip()


def _step(tool: str, arguments: str) -> str:
    return _fields(next_thought="I go on.", next_tool_name=tool, next_tool_args=arguments)


def _fields(**fields: str) -> str:
    return "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in {**fields, "completed": ""}.items())
