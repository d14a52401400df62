"""The whole of a wrap in one call: prepare, compose, save, give findings back, until nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Literal

from assay.model.wrap import Composer, Usage, WrapPackage, WrapResult, WrapStatus
from assay.storage.database import Database
from assay.wrap.composer import OfflineComposer
from assay.wrap.feedback import feedback, holding, mended
from assay.wrap.findings import found
from assay.wrap.lifecycle import cancel
from assay.wrap.prepare import prepare_wrap
from assay.wrap.save import save_continuity

__all__ = ["Desk", "Steps", "conversation", "wrap"]

# Yields prompts, receives texts, returns how the wrap ended: whoever drives it may await the composer in between.
Steps = Generator[str, str, WrapResult]


@dataclass(frozen=True, slots=True)
class Desk:
    """What one wrap needs of a store, whichever way it is reached.

    Attributes:
        save: Takes the text, the token and the mode.
        cancel: Takes the token.
        count: Counts the tokens of the composer's calls.
    """

    prepare: Callable[[], WrapPackage | WrapResult]
    save: Callable[[str, str, Literal["apply", "retry"]], WrapResult]
    cancel: Callable[[str], object]
    count: Callable[[str], int]


def conversation(desk: Desk, retries: int) -> Steps:
    """Do one wrap: findings go back to the composer until no try is left, then what stands is applied.

    What the composer raises, thrown into this generator, cancels the wrap and passes on.
    """
    package = desk.prepare()
    if isinstance(package, WrapResult):
        return package
    prompt, usage, text = package.prompt, Usage(), ""
    try:
        while True:
            answer = yield prompt
            usage = Usage(usage.tokens_in + desk.count(prompt), usage.tokens_out + desk.count(answer))
            text = mended(text, answer)
            saved = desk.save(text, package.token, "retry" if retries else "apply")
            if saved.status is not WrapStatus.REFUSED or not retries:
                break
            retries -= 1
            prompt = f"{package.prompt}\nYour answer was:\n{text}\n\n{feedback(holding(saved.findings), text)}\n"
    except Exception:
        desk.cancel(package.token)
        raise
    if saved.status is WrapStatus.REFUSED:
        desk.cancel(package.token)
    return replace(saved, usage=usage)


def wrap(
    database: Database,
    compose: Composer | None,
    *,
    session: str,
    retries: int | None = None,
    counter: Callable[[str], int],
) -> WrapResult:
    """Wrap in rounds until every episode was seen; a round that fails ends the loop and cancels its wrap.

    Args:
        database: The store.
        compose: Turns a prompt into a document; None for the offline composer.
        session: Who wraps.
        retries: How often findings go back to the composer; the store's setting by default.
        counter: Counts tokens.
    """
    with database.read() as reader:
        allowed = reader.settings.max_retries if retries is None else retries
    done: WrapResult | None = None
    while True:
        round_ = _Round(database, compose, session, counter)
        result = round_.run(allowed)
        if round_.package is None:
            return done if done is not None and result.status is WrapStatus.EMPTY else _joined(done, result)
        done = _joined(done, result)
        if done.status is not WrapStatus.COMMITTED or done.remaining == 0:
            return done


@dataclass(slots=True)
class _Round:
    """One wrap, composed by a function or offline."""

    _database: Database
    _compose: Composer | None
    _session: str
    _counter: Callable[[str], int]
    package: WrapPackage | None = None

    def run(self, retries: int) -> WrapResult:
        desk = Desk(self._prepare, self._save, self._cancel, self._counter if self._compose else lambda _: 0)
        steps = conversation(desk, retries)
        try:
            prompt = next(steps)
            while True:
                prompt = steps.send(self._composed(prompt, steps))
        except StopIteration as ended:
            result: WrapResult = ended.value
            return result
        except _ComposerFailed as failure:
            return self._failed(str(failure))

    def _composed(self, prompt: str, steps: Steps) -> str:
        try:
            text = self._compose(prompt) if self._compose else self._offline()
        except Exception as error:
            # A composer is the caller's code: whatever it raises must not leave the wrap open.
            failure = _ComposerFailed(f"the composer raised {type(error).__name__}: {error}")
        else:
            if text.strip():
                return text
            failure = _ComposerFailed("the composer returned no text")
        steps.throw(failure)
        raise failure

    def _offline(self) -> str:
        assert self.package is not None
        return OfflineComposer(self._counter).compose_package(self.package)

    def _prepare(self) -> WrapPackage | WrapResult:
        prepared = prepare_wrap(self._database, session=self._session, counter=self._counter)
        self.package = prepared if isinstance(prepared, WrapPackage) else None
        return prepared

    def _save(self, text: str, token: str, mode: Literal["apply", "retry"]) -> WrapResult:
        composer = "model" if self._compose else "offline"
        return save_continuity(
            self._database, text, token, mode=mode, session=self._session, composer=composer, counter=self._counter
        )

    def _cancel(self, token: str) -> None:
        cancel(self._database, token, session=self._session)

    def _failed(self, message: str) -> WrapResult:
        fix = "check the composer; the episodes wait for the next wrap"
        waiting = self.package.remaining + self.package.episode_count if self.package else 0
        finding = found("compose-failed", message[:200], fix)
        return WrapResult(WrapStatus.REFUSED, (finding,), remaining=waiting, message=message)


class _ComposerFailed(Exception):
    """What the caller's composer did instead of composing."""


def _joined(done: WrapResult | None, last: WrapResult) -> WrapResult:
    """Add the sums of the rounds before to the last one."""
    if done is None:
        return last
    usage = Usage(done.usage.tokens_in + last.usage.tokens_in, done.usage.tokens_out + last.usage.tokens_out)
    return replace(
        last,
        findings=(*done.findings, *last.findings),
        raised=(*done.raised, *last.raised),
        episodes_compressed=done.episodes_compressed + last.episodes_compressed,
        usage=usage,
    )
