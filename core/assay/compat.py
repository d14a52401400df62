"""The calls of anneal-memory 1.0 on top of Assay: its quick start runs as printed, but for the import.

```python
from assay.compat import EpisodeType, Store, prepare_wrap, validated_save_continuity
```

The checks are Assay's own: a text that they refuse raises, and `findings` of the error says why.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from assay.errors import AssayError, NotFound
from assay.model.constants import REUSE_LIMIT
from assay.model.episode import Episode as Recorded
from assay.model.episode import JsonValue
from assay.model.labels import Kind as EpisodeType
from assay.model.wrap import WrapPackage, WrapResult, WrapStatus
from assay.store import Store as Memory

__all__ = [
    "ContinuityValidationError", "Episode", "EpisodeType", "RecallResult", "Store",
    "prepare_wrap", "validated_save_continuity",
]  # fmt: skip

_CHARS_PER_TOKEN = 4
_PAGE = 1000
_CANDIDATES = ("crystallization_candidates", "rewarm_candidates")
# A key of the result -> the rule whose findings it lists.
_FOUND = {
    "omitted_patterns": "omitted-carried",
    "cross_session_collisions": "overlap",
    "proven_without_contradicts_declaration": "stance-missing",
    "carried_forward": "carried-forward",
    "uncorroborated": "uncorroborated",
    "supersessions_rejected": "supersession-rejected",
}
# What the other library says aloud after a save, too.
_SPOKEN = ("level-capped", "uncorroborated", "cold", "evidence-malformed")


class ContinuityValidationError(AssayError, ValueError):
    """A text was refused; nothing was written and the wrap stays open.

    Attributes:
        findings: Everything that the checks found.
    """

    code = "refused"

    def __init__(self, result: WrapResult) -> None:
        reasons = "; ".join(finding.message for finding in result.findings)
        super().__init__(reasons or result.message or result.status.value)
        self.findings = result.findings


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode under the names of anneal-memory; `timestamp` is ISO 8601 in UTC."""

    id: str
    timestamp: str
    type: EpisodeType
    content: str = field(repr=False)
    source: str
    session_id: str | None
    metadata: Mapping[str, JsonValue] | None = field(repr=False)
    superseded_by: str | None
    origin_key: str | None


@dataclass(frozen=True, slots=True)
class RecallResult:
    """A page of episodes, newest first, and how many match in all."""

    episodes: list[Episode]
    total_matching: int
    query_params: dict[str, Any]


class Store:
    """A store with the calls of anneal-memory; `memory` is the Assay store below it."""

    def __init__(self, path: str | os.PathLike[str], project_name: str | None = None, **options: Any) -> None:
        self.memory = Memory(path, project_name=project_name, **options)
        self.path = self.memory.path

    def record(
        self,
        content: str,
        episode_type: EpisodeType | str,
        source: str = "agent",
        metadata: Mapping[str, JsonValue] | None = None,
        timestamp: str | None = None,
        *,
        origin_key: str | None = None,
        **more: Any,
    ) -> Episode:
        """Record an episode; `more` may hold `supersedes`, `state_key`, `trust` and `derived_from`."""
        more |= {"metadata": metadata, "happened_at": timestamp, "idempotency_key": origin_key}
        return _episode(self.memory.record(content, episode_type, source=source, **more))

    def recall(
        self,
        since: str | None = None,
        until: str | None = None,
        episode_type: EpisodeType | str | None = None,
        source: str | None = None,
        keyword: str | None = None,
        limit: int = 100,
        offset: int = 0,
        include_superseded: bool = False,
    ) -> RecallResult:
        """Filter the episodes, newest first; `keyword` is a part of the text. Ranked search is `memory.recall`."""
        filters: dict[str, Any] = {"since": since, "until": until, "source": source}
        asked = {**filters, "type": episode_type, "keyword": keyword, "limit": limit, "offset": offset}
        filters["kinds"] = (episode_type,) if episode_type else ()
        found: list[Episode] = []
        after: str | None = "0"
        while after is not None:
            page = self.memory.recall(history=True, limit=_PAGE, after=after, **filters)
            found += [_episode(hit.episode) for hit in page if hit.episode is not None]
            after = page.next
        part = (keyword or "").casefold()
        found = [
            one for one in found if part in one.content.casefold() and (include_superseded or not one.superseded_by)
        ]
        return RecallResult(found[offset : offset + limit], len(found), asked)

    def delete(self, episode_id: str) -> bool:
        """Erase an episode for good, from every tier; False when there is none."""
        try:
            self.memory.erase(episode_id)
        except NotFound:
            return False
        return True

    def close(self) -> None:
        """Close the store."""
        self.memory.close()

    def __enter__(self) -> Self:
        """Give the store itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the store."""
        self.close()


def prepare_wrap(store: Store, *, max_chars: int | None = None, session_id: str | None = None) -> dict[str, Any]:
    """Open a wrap; `status` is `ready` with a `package`, else says why none opens (`empty`, `busy`, ...)."""
    opened = store.memory.prepare_wrap(session=session_id, max_tokens=max_chars and max_chars // _CHARS_PER_TOKEN)
    prepared: dict[str, Any] = dict.fromkeys(("package", "assoc_context", "wrap_token", "schema_warning"))
    prepared |= {name: [] for name in ("uncovered_proven_to_check", *_CANDIDATES)}
    if isinstance(opened, WrapResult):
        return prepared | {"status": opened.status.value, "message": opened.message, "episode_count": 0}
    count = opened.episode_count
    ready = {"status": "ready", "message": f"Ready to compress {count} episode(s).", "episode_count": count}
    return prepared | ready | {"package": _package(opened), "wrap_token": opened.token}


def validated_save_continuity(
    store: Store,
    text: str,
    affective_state: object = None,
    *,
    wrap_token: str | None = None,
    allow_shrink: bool = False,
    allow_unlinked: bool = False,
    session_id: str | None = None,
) -> dict[str, Any]:
    """Check a document and commit what it earned; `affective_state` and `allow_unlinked` have no effect.

    Raises:
        ContinuityValidationError: The text was refused; the wrap stays open.
    """
    result = store.memory.save_continuity(text, wrap_token, session=session_id, allow_shrink=allow_shrink)
    if result.status is not WrapStatus.COMMITTED:
        raise ContinuityValidationError(result)
    if affective_state is not None or allow_unlinked:
        _warn("affective_state and allow_unlinked have no effect")
    for finding in result.findings:
        if finding.rule in _SPOKEN or finding.rule.startswith("durable-"):
            _warn(finding.message)
    return _saved(store, text, result)


def _episode(one: Recorded) -> Episode:
    when = one.happened_at.isoformat().replace("+00:00", "Z")
    metadata, key = one.metadata or None, one.idempotency_key
    return Episode(one.ref, when, one.kind, one.content, one.source, one.session, metadata, one.replaced_by, key)


def _package(package: WrapPackage) -> dict[str, Any]:
    """Give the package as a mapping; `instructions` alone is the whole prompt for a model."""
    lists: dict[str, Any] = {name: [] for name in ("stale_patterns", "uncovered_proven", *_CANDIDATES)}
    return lists | {
        "episodes": "\n".join(f"- ({package.refs[one.ref]}) {one.content}" for one in package.episodes),
        "episode_count": package.episode_count,
        "continuity": package.continuity or None,
        "instructions": package.prompt,
        "today": package.date.isoformat(),
        "max_chars": package.target_tokens * _CHARS_PER_TOKEN,
    }


def _saved(store: Store, text: str, result: WrapResult) -> dict[str, Any]:
    """Give the result of a save under the names of anneal-memory, which also kept links between patterns."""
    changes, sections = result.diff.beliefs, _sizes(result.continuity)
    cited = Counter(ref for change in changes for ref in change.evidence)
    lowered = [change for change in changes if change.change == "lowered"]
    bare = sum("needs-evidence" in change.rules for change in lowered)
    rejected = _found(result, "supersession-rejected")
    unlinked = dict.fromkeys(("associations_formed", "associations_strengthened", "associations_decayed"), 0)
    shared = unlinked | {
        "chars": len(result.continuity),
        "episodes_compressed": result.episodes_compressed,
        "graduations_validated": len(result.raised),
        "graduations_demoted": len(lowered),
        "citation_reuse_max": max(cited.values(), default=0),
        "wrap_id": result.wrap,
    }
    extracted = sum(change.change != "dropped" for change in changes)
    inner = {"saved": True, "section_sizes": sections, "patterns_extracted": extracted, "pruned_count": 0}
    capped = _found(result, "level-capped")
    durable = [one.message for one in result.findings if one.rule.startswith("durable-")]
    return {
        **shared,
        **{key: _found(result, rule) for key, rule in _FOUND.items()},
        **({"level_capped": capped} if capped else {}),
        **{"skipped_non_today": 0, "pattern_trust": {}, "association_warning": None, "linkgate_overridden": False},
        "path": store.path,
        "demoted": len(lowered) - bare,
        "bare_demoted": bare,
        "gaming_suspects": [ref for ref, count in cited.items() if count > REUSE_LIMIT],
        "contradictions": _contradictions(store),
        "citation_spread": len(cited),
        "supersessions_recorded": max(0, text.casefold().count("[supersedes:") - len(rejected)),
        "sections": sections,
        "wrap_result": shared | inner,
        "durable_warnings": durable,
    }


def _found(result: WrapResult, rule: str) -> list[dict[str, str | int]]:
    """List the findings of one rule, each with the levels of the pattern that it concerns."""
    levels = {change.name: {"prior_level": change.before, "level": change.after} for change in result.diff.beliefs}
    found = [one for one in result.findings if one.rule == rule]
    return [{"name": one.subject, "reason": one.message, **levels.get(one.subject, {})} for one in found]


def _contradictions(store: Store) -> list[dict[str, Any]]:
    sections = store.memory.continuity.sections()
    patterns = [pattern for section in sections for pattern in section.patterns if pattern.contradicts]
    return [{"pattern": pattern.label, "contradicts": list(pattern.contradicts or ())} for pattern in patterns]


def _sizes(document: str) -> dict[str, int]:
    header, *sections = f"\n{document}".split("\n## ")
    return {"_header": len(header)} | {section.partition("\n")[0].strip(): len(section) for section in sections}


def _warn(message: str) -> None:
    """Warn after the commit: where warnings are errors, the save must still not look as if it had failed."""
    try:
        warnings.warn(message, UserWarning, stacklevel=3)
    except UserWarning:
        logging.getLogger("assay.compat").warning("%s", message)
