"""Every instruction is charged what is its own: what the trace alone says of its beats."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.warpfile.results.profiles.conftest import profile_of
from warpfile.output.display import silent
from warpfile.results.designs import designs
from warpfile.results.profiles import Profile
from warpfile.results.profiles.profile import Lines
from warpfile.schemes import SCHEMES
from warpfile.spec.beat import Beat
from warpfile.spec.trace import Port
from warpfile.spec.workload import prepare
from warpfile.workloads.inputs import obtain_trace

#: Each source of a beat in the operand stage comes from exactly one of these.
ORIGINS = ("bank_reads", "bypassed_reads", "cache_hits", "source_hits", "coalesced", "unmapped_reads")
ORIGINS += ("orf_reads", "lrf_reads", "source_awaits")
KERNEL = "bitonic_sort"


def beats_by_line(scheme: str, preset: str | None) -> dict[int, list[Beat]]:
    """All beats that the domain runs, by the line of a profile."""
    (design,) = designs([scheme], preset, ("lanes=1",))
    trace = design.scheme.annotated(design.config, obtain_trace(KERNEL, "launch", None, silent))
    workload, lines = prepare(design.config, trace), Lines.in_order(trace.program)
    found: dict[int, list[Beat]] = {number: [] for number in range(len(lines.lines))}
    for beat in workload.dealt:
        found[lines.of[trace.instruction[beat.record]]].append(beat)
    return found


def sources(beats: list[Beat]) -> int:
    """Of the beats that pass the operand stage."""
    return sum(len(beat.sources) for beat in beats if beat.needs_unit)


def wrong(profile: Profile, beats: dict[int, list[Beat]]) -> Counter[str]:
    """How many lines have another count than their beats."""
    origins = [name for name in ORIGINS if name in profile.operands]
    found: Counter[str] = Counter()
    for line, some in beats.items():
        found["issued"] += profile.of("issued", line) != len(some)
        if not profile.run.config.gives.absorbs:
            found["dispatches"] += profile.of("dispatches", line) != sum(beat.needs_unit for beat in some)
        found["origins"] += sum(profile.of(name, line) for name in origins) != sources(some)
    return found


@pytest.mark.parametrize("preset", ["tiny", None])
@pytest.mark.parametrize("name", [name for name in SCHEMES if name != "modern"])
def test_every_source_has_one_origin(name: str, preset: str | None) -> None:
    assert not +wrong(profile_of(name, KERNEL, preset=preset), beats_by_line(name, preset))


@pytest.mark.parametrize("name", ["baseline", "bow"])
def test_a_charge_to_another_line_is_noticed(name: str) -> None:
    """It is in no sum."""
    profile, beats = profile_of(name, KERNEL), beats_by_line(name, "tiny")
    reads = profile.counts["bank_reads"]
    one, other = (line for line, count in enumerate(reads) if count and line in (0x4, 0x1B))
    reads[one], reads[other] = reads[one] + 1, reads[other] - 1  # type: ignore[index]
    assert not profile.differences()
    assert +wrong(profile, beats) == Counter({"origins": 2})


@pytest.mark.parametrize("preset", ["tiny", None])
def test_beats_of_variable_latency_read_their_sources_from_banks(preset: str | None) -> None:
    """docs/schemes/modern.md, sections 4 and 7.6; beats of fixed latency read what no reuse cache has."""
    profile, beats = profile_of("modern", KERNEL, preset=preset), beats_by_line("modern", preset)
    variable = {line: [beat for beat in some if _is_variable(beat)] for line, some in beats.items()}
    assert {line: profile.of("variable_reads", line) for line in beats} == {
        line: sources(some) for line, some in variable.items()
    }
    assert sum(map(sources, variable.values())) > 100
    for line, some in beats.items():
        fixed = sources([beat for beat in some if not _is_variable(beat)])
        read = profile.of("fixed_sources", line)
        assert read >= fixed and (read > 0) == (fixed > 0)  # a register may be at two positions


def _is_variable(beat: Beat) -> bool:
    return Port(beat.port) not in (Port.ALU, Port.FMA, Port.NONE)
