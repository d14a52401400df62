"""How much of what is asked for is found, on conversations and tests made by others; nothing is downloaded.

    python -m bench recall --data DIR [--json] [--markdown FILE] [--answers FILE]

DIR holds any of `locomo/conversations.json`, `beam100k/*/chat.json`, `memsyco/*.jsonl` and `persistbench/*.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import conversations, persist, scores, scripts, updates

# Section, figure (or figure over figure), least value; of the leak and of what was wrongly served, the most.
GOALS = (
    ("locomo", "r10", 0.71),
    ("locomo", "r10 / fts5_r10", 1.35),
    ("locomo", "r10 / anneal_memory_r10", 2.4),
    ("locomo", "top1_precision", 0.43),
    ("locomo", "top1_recall", 0.38),
    ("beam", "r10", 0.53),
    ("beam", "r10 / fts5_r10", 1.2),
    ("updates.memsyco", "current_first", 1.0),
    ("updates.beam", "current_first", 1.0),
    ("persistbench", "hit", 0.75),
    ("scripts", "zh", 1.0),
    ("scripts", "ja", 1.0),
)
LIMITS = (
    ("updates.memsyco", "replaced_served", 0.0),
    ("updates.beam", "replaced_served", 0.0),
    ("persistbench", "leak", 0.40),
)


def main(arguments: Sequence[str]) -> int:
    """Measure what the folder allows; the exit code says whether every goal that could be checked was met."""
    parser = argparse.ArgumentParser(
        prog="python -m bench recall", description="How much of what is asked for is found."
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("ASSAY_DATA"), metavar="DIR", help="or ASSAY_DATA")
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the figures as tables")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="keep what was found for each question")
    options = parser.parse_args(arguments)
    if options.data is None or not Path(options.data).is_dir():
        parser.error(f"--data DIR (or ASSAY_DATA): {options.data} is no folder")
    kept = options.answers or Path(tempfile.gettempdir()) / "assay-bench-answers.jsonl"
    found, answers = measure(Path(options.data), note=lambda text: print(text, file=sys.stderr))
    kept.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in answers), "utf-8")
    checked = [(name, value, met) for name, value, met in judged(found)]
    for line in shown(found):
        print(line)
    for name, value, met in checked:
        print(f"{'met' if met else 'NOT MET':8}{name}: {value:.3f}")
    print(f"answers: {kept}")
    if options.markdown:
        options.markdown.write_text(markdown(found, checked), "utf-8")
    if options.json:
        print(json.dumps(found, ensure_ascii=False))
    return 0 if all(met for _, _, met in checked) else 1


def measure(folder: Path, *, note: Callable[[str], None]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Give the figures by section, empty where the folder holds no data, and a line for every question."""
    found: dict[str, Any] = {}
    lines: list[dict[str, Any]] = []
    for name, read, side_by_side in (("locomo", conversations.locomo, True), ("beam", conversations.beam, False)):
        answers = scores.ask(read(folder), side_by_side=side_by_side)
        found[name] = scores.summary(answers)
        lines += [{"set": name, **answer.line()} for answer in answers]
    found["updates"] = updates.measure(folder)
    found["persistbench"] = persist.measure(folder)
    found["scripts"] = scripts.measure()
    for name, section in found.items():
        if not section:
            note(f"{name}: {folder} holds no data for it, so it was not measured")
    return found, lines


def judged(found: Mapping[str, Any]) -> list[tuple[str, float, bool]]:
    """Compare the figures with the goals: (goal in words, value, met); goals without a figure are left out."""
    checked: list[tuple[str, float, bool]] = []
    for goals, sign in ((GOALS, ">="), (LIMITS, "<=")):
        for section, figure, bound in goals:
            value = _figure(found, section, figure)
            if value is not None:
                met = value >= bound if sign == ">=" else value <= bound
                checked.append((f"{section} {figure} {sign} {bound:g}", value, met))
    return checked


def _figure(found: Mapping[str, Any], section: str, figure: str) -> float | None:
    values: Any = found
    for part in section.split("."):
        values = values.get(part, {})
    over, _, under = figure.partition(" / ")
    if over not in values or (under and not values.get(under)):
        return None
    return float(values[over] / values[under] if under else values[over])


def shown(found: Mapping[str, Any]) -> list[str]:
    """Give the figures as lines of text."""
    lines: list[str] = []
    for name, section in found.items():
        plain = {key: value for key, value in section.items() if not isinstance(value, (dict, list))}
        lines += [f"{name:14}" + "  ".join(f"{key} {value:g}" for key, value in plain.items())] if plain else []
        lines += [
            f"{name}.{key}: " + "  ".join(f"{part} {value:g}" for part, value in inner.items())
            for key, inner in section.items()
            if isinstance(inner, dict)
        ]
    for point in found["persistbench"].get("curve", ()):
        lines.append(f"  bar {point['bar']:.2f}: leak {point['leak']:.2f}, hit {point['hit']:.2f}")
    return lines


def markdown(found: Mapping[str, Any], checked: Sequence[tuple[str, float, bool]]) -> str:
    """Give the goals and the figures as Markdown."""
    rows = ["| goal | value | met |", "|---|---|---|"]
    rows += [f"| {name} | {value:.3f} | {'yes' if met else 'no'} |" for name, value, met in checked]
    return "# Recall, measured\n\n" + "\n".join(rows) + "\n\n```\n" + "\n".join(shown(found)) + "\n```\n"
