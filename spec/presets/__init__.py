"""Named configurations, each value with its source; a file of this folder each, all on one page in ``docs/presets.md``.

A preset describes the machine *around* a scheme: what the baseline is given when it is compared with that scheme.
Parameters of the schemes themselves (entries, windows, thresholds) are not part of it. A file has the title, and for
every field a value and where it comes from.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from warpfile.spec.config import Config

#: Fields that say how long something takes; every preset names a source for each of them.
LATENCIES = (
    "bank_cycles",
    "branch_delay",
    "alu_latency",
    "alu_interval",
    "fma_latency",
    "fma_interval",
    "double_latency",
    "double_interval",
    "tensor_latency",
    "tensor_interval",
    "sfu_latency",
    "sfu_interval",
    "lsu_interval",
    "shared_latency",
    "texture_latency",
    "texture_interval",
    "hit_latency",
    "miss_latency",
    "sector_interval",
    "uniform_latency",
)

_MEMORY = ("sector_bytes", "stores", "l1_banks", "mshrs", "mshr_merges")

#: Fields in which published baselines differ; every preset decides each of them, whatever the defaults are.
CHOICES = (
    "warps",
    "banks",
    "rows",
    "bank_ports",
    "bank_skew",
    "collectors",
    "source_slots",
    "collect",
    "bank_arbitration",
    "dispatch_arbitration",
    "scheduler",
    *_MEMORY,
)


@dataclass(frozen=True)
class Preset:
    """A configuration under a name.

    ``sources`` says, per field of ``config``, where its value comes from: at least for every field that differs from
    the default of :class:`spec.config.Config` and for every field in ``LATENCIES`` and ``CHOICES``. Raises
    ``ValueError`` where a source is missing or names no field.
    """

    name: str
    title: str
    config: Config
    sources: Mapping[str, str] = field(repr=False)

    def __post_init__(self) -> None:
        known = {spec.name for spec in dataclasses.fields(Config)}
        if unknown := sorted(set(self.sources) - known):
            raise ValueError(f"{self.name}: sources must name configuration fields, not {', '.join(unknown)}")
        needed = {*changed_fields(self.config), *LATENCIES, *CHOICES}
        if missing := sorted(needed - set(self.sources)):
            raise ValueError(f"{self.name}: every chosen value must have a source, missing for {', '.join(missing)}")


def changed_fields(config: Config) -> tuple[str, ...]:
    """Fields whose value is not the default, in the order of their declaration."""
    specs = dataclasses.fields(Config)
    return tuple(spec.name for spec in specs if getattr(config, spec.name) != spec.default)


#: In the order of the page.
NAMES = (
    "turing",
    "pascal",
    "isca2011",
    "fermi",
    "fermi_linear",
    "kepler",
    "maxwell",
    "pascal_larf",
    "turing_rfc",
    "ampere",
    "ada",
    "hopper",
    "blackwell",
    "tiny",
    "peer",
)


@cache
def _read(name: str) -> Preset:
    """The preset of a file. Raises ``ValueError`` for one that is not complete."""
    facts = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    values = facts["values"]
    config = Config().replace(**{key: value for key, (value, _) in values.items()})
    return Preset(name, facts["title"], config, {key: source for key, (_, source) in values.items()})


class _Presets(Mapping[str, Preset]):
    """By name; a file is read when its preset is asked for."""

    def __getitem__(self, name: str) -> Preset:
        if name not in NAMES:
            raise KeyError(name)
        return _read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


#: All presets by name.
PRESETS: Mapping[str, Preset] = _Presets()
