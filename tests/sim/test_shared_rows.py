"""Programs whose loads meet, in lockstep: addresses come from registers, which those of stress traces do not."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.golden.rf.shared.scenario import make, random_case
from warpfile.schemes import find
from warpfile.sim.build import generated_verilog
from warpfile.sim.runner import CosimReport, cosim
from warpfile.spec.stress.random_sharing import random_warps
from warpfile.spec.stress.warp_programs import trace_of

#: Eight lanes, eight entries, one bank, searches that merge.
MACHINE, _, _ = random_case(8, table_entries=8)
#: What programs have to reach between them.
REACHED = (
    *("hits_perfect", "hits_single", "hits_double", "misses", "lost_hits", "untracked_partial"),
    *("table_evictions", "table_deletions", "table_ends", "table_flushes", "merge_writes", "renewals", "kills_done"),
    "found_ahead",
)
#: The first two reach all of it.
SEEDS = (36, 8, 14, 29)
_IDLE = re.compile(r"(assign idle *= free *)&[^;]*;")
_DELETED = re.compile(r"(assign deleted_entries *=)[^;]*;")


#: Four lanes, a scheduler that prefers warps whose next load is there.
LOOKAHEAD = make("larf+las", lanes=4, banks=2, table_entries=8, collectors=4)


def lockstep(seed: int, root: Path, verilog: str | None = None) -> CosimReport:
    scheme = find("larf")
    warps = random_warps(random.Random(seed), MACHINE.lanes, warps=2, ctas=2, calm=seed % 2 == 0)
    annotated = scheme.annotated(MACHINE, trace_of(*warps), seed if seed % 3 == 0 else None)
    return cosim(scheme, MACHINE, annotated, build_root=root / "build", verilog=verilog, explain=False)


@pytest.mark.check
def test_random_programs_run_in_lockstep_and_reach_every_outcome(root: Path) -> None:
    total: Counter[str] = Counter()
    for seed in SEEDS:
        print(f"seed {seed}")
        outcome = lockstep(seed, root).outcome
        assert outcome.mismatches == 0, outcome.first_mismatch
        assert outcome.operands_checked == outcome.golden_operands_checked > 0
        total.update(outcome.counters)
    assert {name for name in REACHED if not total[name]} == set()


@pytest.mark.check
def test_entries_that_no_access_deletes_are_found(root: Path) -> None:
    verilog, count = _DELETED.subn(r"\1 0;", generated_verilog(find("larf"), MACHINE, root / "build"))
    assert count == 1
    outcomes = (lockstep(seed, root, verilog).outcome for seed in SEEDS)
    first = next(outcome.first_mismatch for outcome in outcomes if outcome.mismatches)
    # A store shows how many it deletes, a flush only by what is left.
    kept = first["fields"].get("valid_entries", {"rtl": 0, "golden": 0})
    assert first["fields"].get("deleted", {}).get("rtl") == 0 or kept["rtl"] > kept["golden"], first


def looking_ahead(seed: int, root: Path, verilog: str | None = None) -> CosimReport:
    scheme = find("larf+las")
    warps = random_warps(random.Random(seed), LOOKAHEAD.lanes, warps=2, ctas=2, calm=seed % 2 == 0, led=True)
    annotated = scheme.annotated(LOOKAHEAD, trace_of(*warps))
    return cosim(scheme, LOOKAHEAD, annotated, build_root=root / "build", verilog=verilog, explain=False)


@pytest.mark.check
def test_the_reader_of_las_runs_in_lockstep_and_is_late_too(root: Path) -> None:
    total: Counter[str] = Counter()
    for seed in (8, 14):
        outcome = looking_ahead(seed, root).outcome
        assert outcome.mismatches == 0, outcome.first_mismatch
        total.update(outcome.counters)
    assert [name for name in ("las_reads", "las_late", "las_probes", "las_hits", "las_issues") if not total[name]] == []


@pytest.mark.check
def test_a_reader_that_takes_a_bank_from_a_unit_is_found(root: Path) -> None:
    verilog = generated_verilog(find("larf+las"), LOOKAHEAD, root / "build")
    verilog, count = _IDLE.subn(r"\1;", verilog)
    assert count == 1
    assert looking_ahead(8, root, verilog).outcome.mismatches
