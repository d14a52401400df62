"""Memory and memory tools of an agent in one object."""

from __future__ import annotations

from ag2 import Plugin

from assay.session import SessionOptions, StoreRouter, Target
from assay_integrations.autogen.ag2.middleware import AssayMiddleware
from assay_integrations.autogen.ag2.tools import tools

__all__ = ["AssayPlugin"]


class AssayPlugin(Plugin):
    """Gives an agent an `AssayMiddleware`, and the tools `recall` and `remember` on the same stores.

    Attributes:
        memory: The middleware, which ends sessions and closes the stores.

    Args:
        target: What `AssayMiddleware` takes.

    Example:
        agent = Agent("helper", config=config, plugins=[AssayPlugin("memory/{user}.db")])
    """

    def __init__(self, target: Target | StoreRouter, *, options: SessionOptions | None = None) -> None:
        self.memory = AssayMiddleware(target, options=options)
        super().__init__(middleware=[self.memory], tools=tools(self.memory.router, options=options))
