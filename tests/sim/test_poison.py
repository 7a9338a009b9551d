"""Rows that are given up are overwritten in the simulator, over plain files whose registers stay where they are."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import warpfile.sim.runner as runner
from tests.golden.scenario import hand_trace, op
from tests.movers.scheme import FILE as MOVERS
from tests.striped.scheme import FILE as STRIPED
from warpfile.schemes import SCHEMES, Part
from warpfile.schemes.compose import composed
from warpfile.schemes.scheme import Scheme
from warpfile.sim.runner import CosimReport, cosim
from warpfile.spec.annotation import on_last_beat
from warpfile.spec.probe import ProbeLayout

BANKS, WINDOW = 1, 2
_OTHERS = [op((), 6 + number) for number in range(4)]
#: A value that a bank gets, then one for the window only, which is read when it has left.
LATE_READ = hand_trace([op((), 5), *_OTHERS, op((), 5), *_OTHERS, op((5,), 1)])


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The golden model, which is in the simulator's process and can be patched there, does not look at operands."""
    run_module = runner.run_module
    monkeypatch.setattr(
        runner, "run_module", lambda harness, module, *rest: run_module(harness, "tests.sim.poison_bench", *rest)
    )
    monkeypatch.setattr(runner, "simulate", partial(runner.simulate, interactive=True))
    monkeypatch.setenv("WARPFILE_COMPILED", "0")


def run(root: Path, scheme: Scheme, second: int, **changes: object) -> CosimReport:
    """Lockstep over the late read, with a write class for the second value."""
    cfg = scheme.configuration("tiny", lanes=2, **changes)
    words = np.full(LATE_READ.instructions, 3, dtype=np.uint32)
    words[0], words[5] = BANKS, second
    label = scheme.annotated(cfg, LATE_READ).annotation
    trace = dataclasses.replace(LATE_READ, hints=on_last_beat(LATE_READ, cfg.source_slots, words), annotation=label)
    return cosim(scheme, cfg, trace, simulator="icarus", build_root=root / "build", explain=False)


@pytest.mark.check
@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    ("files", "changes"),
    [
        ((), {}),
        ((), {"source_slots": 1, "window_entries": 1, "bank_skew": "row"}),
        ((STRIPED,), {"bank_ports": "1R1W"}),
    ],
)
def test_a_value_that_was_given_up_is_not_there(
    root: Path, blind: None, files: tuple[Part, ...], changes: dict[str, object]
) -> None:
    scheme = composed(SCHEMES["bow_wr"], files)
    assert not run(root, scheme, BANKS, **changes).outcome.mismatches
    report = run(root, scheme, WINDOW, **changes)
    assert set(report.outcome.first_mismatch["fields"]) == {"operand"}  # type: ignore[index,arg-type]
    assert report.unchecked == ()


@pytest.mark.needs("iverilog")
def test_without_poison_the_old_value_is_still_there(root: Path, blind: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: what is seen above is the pattern."""
    monkeypatch.setattr(Scheme, "harness", lambda *_: "")
    assert not run(root, SCHEMES["bow_wr"], WINDOW).outcome.mismatches


def test_where_registers_move_the_run_says_that_nothing_is_poisoned() -> None:
    moving, plain = composed(SCHEMES["bow_wr"], [MOVERS]), SCHEMES["bow_wr"]
    cfg = moving.configuration("tiny")
    (line,) = moving.unchecked(cfg)
    assert line.startswith("bow_wr+movers: rows of values that were given up are not poisoned")
    assert moving.harness(cfg, ProbeLayout(moving.probes(cfg))) == ""
    assert plain.unchecked(plain.configuration("tiny")) == ()
