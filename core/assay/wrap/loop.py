"""The whole of a wrap in one call: prepare, compose, save, give findings back, until nothing is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from assay.model.wrap import Composer, Usage, WrapPackage, WrapResult, WrapStatus
from assay.storage.database import Database
from assay.wrap.composer import OfflineComposer
from assay.wrap.feedback import feedback, holding
from assay.wrap.findings import found
from assay.wrap.lifecycle import cancel
from assay.wrap.prepare import prepare_wrap
from assay.wrap.save import save_continuity

__all__ = ["wrap"]


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
        package = prepare_wrap(database, session=session, counter=counter)
        if isinstance(package, WrapResult):
            return done if done is not None and package.status is WrapStatus.EMPTY else _joined(done, package)
        done = _joined(done, _Round(database, compose, package, session, allowed, counter).run())
        if done.status is not WrapStatus.COMMITTED or done.remaining == 0:
            return done


@dataclass(slots=True)
class _Round:
    """One prepared wrap and the calls of the composer for it."""

    database: Database
    compose: Composer | None
    package: WrapPackage
    session: str
    retries: int
    counter: Callable[[str], int]
    tokens_in: int = 0
    tokens_out: int = 0

    def run(self) -> WrapResult:
        prompt, left = self.package.prompt, self.retries
        while True:
            try:
                text = self._composed(prompt)
            except Exception as error:
                # A composer is the caller's code: whatever it raises must not leave the wrap open.
                return self._failed(f"the composer raised {type(error).__name__}: {error}")
            if not text.strip():
                return self._failed("the composer returned no text")
            result = self._saved(text, last=left == 0)
            if result.status is not WrapStatus.REFUSED:
                return result
            if left == 0:
                cancel(self.database, self.package.token, session=self.session)
                return result
            left -= 1
            prompt = f"{self.package.prompt}\nYour answer was:\n{text}\n\n{feedback(holding(result.findings))}\n"

    def _composed(self, prompt: str) -> str:
        if self.compose is None:
            return OfflineComposer(self.counter).compose_package(self.package)
        self.tokens_in += self.counter(prompt)
        text = self.compose(prompt)
        self.tokens_out += self.counter(text)
        return text

    def _saved(self, text: str, *, last: bool) -> WrapResult:
        result = save_continuity(
            self.database,
            text,
            self.package.token,
            mode="apply" if last else "retry",
            session=self.session,
            composer="offline" if self.compose is None else "model",
            counter=self.counter,
        )
        return replace(result, usage=Usage(self.tokens_in, self.tokens_out))

    def _failed(self, message: str) -> WrapResult:
        cancel(self.database, self.package.token, session=self.session)
        fix = "check the composer; the episodes wait for the next wrap"
        waiting, usage = self.package.remaining + self.package.episode_count, Usage(self.tokens_in, self.tokens_out)
        finding = found("compose-failed", message[:200], fix)
        return WrapResult(WrapStatus.REFUSED, (finding,), remaining=waiting, usage=usage, message=message)


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
