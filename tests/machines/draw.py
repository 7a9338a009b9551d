"""Random machines: any parts that fit, any value of any field that is accepted, from a scheme's name and a number."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpfile.schemes import PARTS, SLOTS, Scheme, find
from warpfile.schemes.scheme import schedulers
from warpfile.spec.config import Config
from warpfile.spec.stress import PROFILES, SHARED_BYTES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import WorkloadError, prepare

PRESET = "tiny"  #: the values of fields that are not drawn
#: Fields that are drawn from a part of their range, so that a simulation is built in seconds.
BOUNDS: Mapping[str, tuple[int, int]] = {
    "lanes": (1, 8),
    "cache_ways": (1, 4),
    "warps": (1, 6),
    "active_warps": (1, 6),
    "ctas": (1, 5),
    "register_names": (8, 32),
    "banks": (1, 8),
    "rows": (2, 64),
    "collectors": (1, 5),
    "payload_bits": (16, 48),
    "unit_entries": (2, 8),
    "window": (2, 4),
    "window_entries": (1, 9),
    "cache_entries": (0, 6),
    "write_queue": (1, 5),
    "table_entries": (1, 64),
    # Stress programs name nine registers at once.
    "interval_registers": (16, 32),
    # Stress programs name so many bytes; with less no machine runs them.
    "shared_bytes": (SHARED_BYTES, 1 << 16),
}
#: The first machines of every scheme, those that ``make test`` builds, are small: these products of fields decide how
#: long a build takes.
SMALL = 5
MOST: Mapping[tuple[str, ...], int] = {
    ("banks", "rows"): 256,
    ("collectors", "source_slots", "ports"): 27,
    ("warps", "register_names"): 128,
}
#: A run at the largest latencies and intervals takes thousands of cycles per instruction, and the RTL is the same.
MOST_CYCLES = 200
#: Of traces for a machine; the smallest one has four places, and one trace in 29 does with so few.
DRAWS = 1000
#: Fields that keep their value: a stress trace has no listing, from which static distances are found, and an extended
#: set that is asked for must fit the kernel; main banks that overlap accesses or have no latches are no hardware; a
#: GPU is a name.
KEPT = ("reuse_hints", "es_override", "main_pipelined", "duplex", "latches", "codes_for")


@dataclass(frozen=True)
class Machine:
    """A scheme in a random configuration."""

    scheme: Scheme
    changes: Mapping[str, object]
    config: Config

    def command(self, verb: str, *arguments: str, **other: object) -> str:
        """Command line that does something with the machine, with some fields changed."""
        settings = (f"--set {name}={value}" for name, value in {**self.changes, **other}.items())
        return " ".join(("warpfile", verb, self.scheme.name, *arguments, "--preset", PRESET, *settings))


def drawn(name: str, number: int) -> Machine:
    """Random machine ``number`` of a scheme: always the same, one on which some kernel fits, small below ``SMALL``."""
    rng = random.Random(f"machine {name} {number}")
    while True:
        scheme = _scheme(rng, name)
        changes = _changes(rng, scheme)
        cfg = scheme.configuration(PRESET, **changes)
        if cfg.resident_warps(4) and (number >= SMALL or is_small(cfg)):
            return Machine(scheme, changes, cfg)


def is_small(cfg: Config) -> bool:
    """Whether no product of :data:`MOST` is larger."""
    return all(math.prod(getattr(cfg, field) for field in fields) <= most for fields, most in MOST.items())


def traces(name: str, number: int, machine: Machine, count: int = 2) -> Iterator[Trace]:
    """Annotated stress traces that fit a machine, with hints as they are and loosened at random in turn."""
    rng = random.Random(f"traces {name} {number}")
    cfg, scheme = machine.config, machine.scheme
    found = 0
    for _ in range(DRAWS):
        registers, seed = rng.randint(4, cfg.register_names), rng.randrange(1 << 30)
        most = cfg.domains * min(cfg.resident_warps(registers), 4)
        if most <= cfg.domain:
            continue
        sizes = [rng.randint(cfg.domain + 1, most), rng.randint(1, most), rng.randint(1, most)]
        trace = stress_trace(
            seed, warps_per_cta=sizes, ctas=6, length=60, registers=registers, profile=rng.choice(sorted(PROFILES))
        )
        trace = scheme.annotated(cfg, trace, seed if found % 2 else None)
        try:
            prepare(cfg, trace)
        except WorkloadError:  # a kernel with a descriptor may take more places than one without
            continue
        found += 1
        yield trace
        if found == count:
            return
    raise AssertionError(f"machine {number} of {name}: {found} of {count} traces fit in {DRAWS} draws")


def _scheme(rng: random.Random, name: str) -> Scheme:
    """The scheme, in one draw of three with other parts where they fit."""
    while rng.random() < 1 / 3:
        slots = rng.sample(SLOTS, rng.randint(1, len(SLOTS)))
        parts = [rng.choice([part.name for part in PARTS.values() if part.slot == slot]) for slot in slots]
        try:
            scheme = find("+".join((name, *parts)))
            scheme.configuration(PRESET)
        except ValueError:
            continue
        return scheme
    return find(name)


def _changes(rng: random.Random, scheme: Scheme) -> dict[str, object]:
    """Values of most fields: one after the other in random order, each kept if the configuration accepts it and is
    hardware, at once or after the others."""
    specs = [spec for spec in dataclasses.fields(scheme.parameters) if spec.name not in KEPT]
    chosen = {spec.name: _value(rng, spec) for spec in rng.sample(specs, len(specs)) if rng.random() >= 0.2}
    changes: dict[str, object] = {}
    for name, value in (*chosen.items(), *chosen.items()):
        if name in changes:
            continue
        try:
            scheme.configuration(PRESET, **changes | {name: value}).must_be_hardware()
        except ValueError:
            continue
        changes[name] = value
    return changes


def _value(rng: random.Random, spec: dataclasses.Field[Any]) -> object:
    """A value of a field by its rule: numbers near the ends of their range more often than in the middle."""
    rule = spec.metadata
    if "choices" in rule:
        return rng.choice(rule["choices"])
    if "name" in rule:
        return rng.choice(sorted(schedulers()))
    low, high = bounds(spec)
    if rule.get("power"):
        return 1 << rng.randint((low - 1).bit_length(), high.bit_length() - 1)
    if rng.random() < 0.2:
        return rng.choice((low, high))
    value = low - 1 + round(math.exp(rng.uniform(0, math.log(high - low + 1))))
    return value - value % 12 if spec.name == "cache_lines" else value


def bounds(spec: dataclasses.Field[Any]) -> tuple[int, int]:
    """Smallest and largest value that is drawn for a number."""
    rule = spec.metadata
    if spec.name in BOUNDS:
        return BOUNDS[spec.name]
    timing = spec.name.endswith(("_latency", "_interval", "_delay"))
    return rule["low"], min(rule["high"], MOST_CYCLES) if timing else rule["high"]


def kept(trace: Trace, folder: Path, name: str) -> Path:
    """Where a trace now lies, for a command line."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npz"
    trace.save(path)
    return path
