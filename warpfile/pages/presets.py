"""docs/presets.md: every value of every preset with its source."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from warpfile.pages.writing import DOCS, page_parser, write_or_check
from warpfile.spec.config import Config
from warpfile.spec.presets import PRESETS, Preset

PAGE = DOCS / "presets.md"
_INTRODUCTION = """# Presets

<!-- Written by `python -m warpfile.pages presets`; change `spec/presets/*.toml` instead. -->

Each preset is the machine around one published scheme, and every scheme is compared with the baseline at the values of
its own preset. One preset is one scheduling domain: its own warps, one scheduler with one issue per cycle, its own
banks, collector units and execution ports. `domains` says how many of them make the SM of the paper. The warps of
every CTA are dealt to them in turn; a run is that of one of them, `domain` (`--domain 3`). CTA slots and shared memory
are those of the SM, because every CTA is in all of its domains. Everything else that a source gives for a whole SM
(warps, banks, units, LSU, cache, misses under way, bandwidth of memory) is there as the domain's share. All presets are
built with 32 lanes except `tiny`; any of them can be built narrower (`--set lanes=4`), because control does not depend
on lanes.

What is said of GPGPU-Sim's files is of the tested configurations that belong to Accel-Sim: `gpgpusim.config`, and
`trace.config` for the units where there is one (not for `SM2_GTX480`, whose times are those of PTX). In GPGPU-Sim's own
last release `SM75_RTX2060` is another one.
"""


def main(arguments: Sequence[str]) -> int:
    """Write the page."""
    options = page_parser("presets", __doc__).parse_args(arguments)
    return write_or_check(options, {PAGE: markdown()})


def markdown() -> str:
    """The page ``docs/presets.md``."""
    parts = [_INTRODUCTION, *_overview(), ""]
    for preset in PRESETS.values():
        parts += _section(preset)
    return "\n".join(parts)


def _overview() -> Iterator[str]:
    names = list(PRESETS)
    yield "## All values\n"
    yield _row("field", *(f"`{name}`" for name in names))
    yield _row(*["---"] * (len(names) + 1))
    for spec in dataclasses.fields(Config):
        yield _row(f"`{spec.name}`", *(getattr(PRESETS[name].config, spec.name) for name in names))


def _section(preset: Preset) -> Iterator[str]:
    yield f"## {preset.name}\n"
    yield f"{preset.title}. Domains per SM: {preset.config.domains}. Warp registers: {_capacity(preset.config)}.\n"
    yield _row("field", "value", "source")
    yield _row("---", "---", "---")
    for spec in dataclasses.fields(Config):
        if spec.name in preset.sources:
            yield _row(f"`{spec.name}`", getattr(preset.config, spec.name), preset.sources[spec.name])
    yield ""


def _capacity(config: Config) -> int:
    return config.banks * config.rows


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
