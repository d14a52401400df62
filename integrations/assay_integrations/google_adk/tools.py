"""The two tools with which a model uses its memory on purpose."""

from __future__ import annotations

from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext

from assay.session import RECALL, REMEMBER, Session, SessionOptions, StoreRouter, Target
from assay_integrations.google_adk.place import Sessions

__all__ = ["tools"]


def tools(target: Target | StoreRouter, *, options: SessionOptions | None = None) -> list[FunctionTool]:
    """Make the tools `recall` and `remember` for an agent; user and session are those of the run.

    Args:
        target: What `AssayPlugin` takes; give both the same `StoreRouter` to let them share their stores.

    Example:
        router = StoreRouter("memory/{user}.db")
        agent = LlmAgent(name="helper", model=model, tools=tools(router))
        app = App(name="deploys", root_agent=agent, plugins=[AssayPlugin(router)])
    """
    sessions = Sessions(target, options)

    def of(context: ToolContext) -> Session | None:
        return sessions.of_run(context.get_invocation_context(), context.agent_name)

    async def recall(query: str, tool_context: ToolContext) -> str:
        return await sessions.arecall(of(tool_context), query)

    async def remember(text: str, tool_context: ToolContext) -> str:
        return await sessions.aremember(of(tool_context), text)

    # What the model reads of a tool is its docstring.
    recall.__doc__, remember.__doc__ = RECALL, REMEMBER
    return [FunctionTool(recall), FunctionTool(remember)]
