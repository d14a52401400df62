"""The grammar of the command line: commands, groups of commands, and the options that all of them have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from assay.cli.call import Call
from assay.cli.reply import Reply

__all__ = ["Grammar", "Parser", "Run", "UsageError"]

Run = Callable[[Call], Reply]


class UsageError(Exception):
    """The arguments cannot be understood."""


class Parser(argparse.ArgumentParser):
    """A parser that raises instead of printing its usage and leaving the process."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the arguments."""
        raise UsageError(f"{message}; see `{self.prog} --help`")


class Grammar:
    """A level of the grammar: a parser, and the commands below it.

    Args:
        parser: The parser of this level.
        shared: Holds the options that may stand behind any command; without defaults, so that an option before
            the command is not overwritten behind it.
        required: Whether a command must follow.
    """

    def __init__(self, parser: argparse.ArgumentParser, shared: argparse.ArgumentParser, *, required: bool) -> None:
        self.parser = parser
        self._shared = shared
        self._commands: Any = parser.add_subparsers(
            title="commands", metavar="COMMAND", required=required, parser_class=Parser
        )

    def command(self, name: str, run: Run, about: str) -> argparse.ArgumentParser:
        """Add a command; give its parser for its arguments."""
        parser = self._named(name, about)
        parser.set_defaults(handler=run)
        return parser

    def group(self, name: str, about: str, run: Run | None = None) -> Grammar:
        """Add a group of commands; with `run`, the group's name alone is a command as well."""
        parser = self.command(name, run, about) if run else self._named(name, about)
        return Grammar(parser, self._shared, required=run is None)

    def _named(self, name: str, about: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self._commands.add_parser(
            name, help=about, description=f"{about[0].upper()}{about[1:]}.", parents=[self._shared]
        )
        return parser
