"""The call of an agent's own model that writes its continuity."""

from __future__ import annotations

from collections.abc import Callable

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKError, ResultMessage, Transport, query

__all__ = ["Transports", "compose"]

# What a conversation is held over: None for the command line tool of the SDK, or a function that makes one for each
# conversation, those of the wraps among them.
Transports = Transport | Callable[[ClaudeAgentOptions], Transport] | None

_NO_HOOKS = '{"disableAllHooks": true}'


async def compose(transport: Transports, options: ClaudeAgentOptions, prompt: str) -> str:
    """Let the model of an agent answer a prompt of the wrap, in a conversation of its own that leaves no transcript.

    The conversation of the user is not forked for it: that would send all of it again at each try, and with it what
    tools and briefings brought in, unlabelled. The prompt holds what is to be consolidated.
    """
    if isinstance(transport, Transport):
        raise ClaudeSDKError("this transport holds one conversation: pass a function of options, or WrapPolicy.model")
    alone = ClaudeAgentOptions(
        model=options.model,
        fallback_model=options.fallback_model,
        cwd=options.cwd,
        env=options.env,
        cli_path=options.cli_path,
        user=options.user,
        stderr=options.stderr,
        settings=options.settings or _NO_HOOKS,
        setting_sources=options.setting_sources,
        tools=[],
        max_turns=1,
        extra_args={"no-session-persistence": None},
    )
    text = ""
    async for message in query(prompt=prompt, options=alone, transport=transport and transport(alone)):
        if isinstance(message, ResultMessage):
            text = message.result or ""
    return text
