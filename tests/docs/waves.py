"""WaveDrom diagrams of the pages, cycle by cycle, beside runs of the golden models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"```wavedrom\n(.*?)```", re.DOTALL)
#: Waves that need no text: a clock, levels, and what is not said.
_LEVELS = "01xp"


def diagrams(page: str) -> list[dict[str, Any]]:
    """All diagrams of a page's text."""
    return [json.loads(block) for block in _BLOCK.findall(page)]


def values(signal: Mapping[str, Any]) -> list[str]:
    """What a signal shows in each cycle: its level, or the text in its box.

    Raises ``ValueError`` for a sign that pages do not use, and for texts that are too few or too many.
    """
    texts = iter(signal.get("data", []))
    found: list[str] = []
    for sign in signal["wave"]:
        if sign == "." and found:
            found.append(found[-1])
        elif sign in _LEVELS:
            found.append(sign)
        elif sign == "=" and (text := next(texts, None)) is not None:
            found.append(text)
        else:
            raise ValueError(f"{signal['name']}: {sign!r} without a meaning")
    if left := list(texts):
        raise ValueError(f"{signal['name']}: no box for {left}")
    return found


def wrong(diagram: Mapping[str, Any], fields: Sequence[Mapping[str, int]]) -> Iterator[str]:
    """Signals with the name of a probe that show other values than the cycles of a run have.

    Texts are binary numbers. A signal that is no probe is not compared.
    """
    for signal in diagram["signal"]:
        if (name := signal["name"]) in fields[0]:
            shown = [int(text, 2) for text in values(signal)]
            run = [one[name] for one in fields[: len(shown)]]
            if shown != run:
                yield f"{name}: {shown}, not {run}"


def wave(name: str, found: Sequence[int], width: int) -> dict[str, Any]:
    """A signal of a diagram with these values of ``width`` bits."""
    signs, texts = "", []
    for number, value in enumerate(found):
        if number and value == found[number - 1]:
            signs += "."
        elif width == 1:
            signs += str(value)
        else:
            signs += "="
            texts.append(f"{value:0{width}b}")
    return {"name": name, "wave": signs} | ({"data": texts} if texts else {})
