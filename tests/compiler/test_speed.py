"""The analyses are fast and say what the slow ones say."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler import slow
from tests.compiler.generated import graph, programs, structured
from tests.warpfile.conftest import Invoke, folder, invoke  # noqa: F401  fixtures
from warpfile.compiler import Function, parse
from warpfile.compiler.cfg import Cfg
from warpfile.compiler.divergence import divergence
from warpfile.compiler.liveness import liveness
from warpfile.compiler.passes.bow.hazards import torn_blocks
from warpfile.compiler.passes.bow.static import write_classes
from warpfile.compiler.passes.regmutex.stretches import Stretches
from warpfile.compiler.passes.rfc.suspend import suspend_before
from warpfile.compiler.reconvergence import reconvergence_points
from warpfile.compiler.regions import Regions
from warpfile.compiler.warp_liveness import warp_liveness
from warpfile.pages.scaling import SHAPES, listing
from warpfile.workloads.analysis import analyze_function

_LINES = (
    *("IADD3 R{a}, R{b}, R{c}, RZ", "LDG.E.SYS R{a}, [R{b}]", "@P0 LDG.E.64.SYS R{a}, [R{b}]", "S2R R{a}, SR_TID.X"),
    *("ISETP.LT.AND P{p}, PT, R{a}, R{b}, PT", "@P{p} BRA `(L{t})", "@!P{p} BRA `(L{t})", "BRA `(L{t})", "@P1 EXIT"),
    *("BSSY B{p}, `(L{t})", "BSYNC B{p}", "@P0 BREAK B{p}", "MEMBAR.SC.GPU", "BAR.SYNC 0x0", "MOV R{a}, RZ"),
    *(
        "CALL.REL.NOINC `(L{t})",
        "RET.REL.NODEC R8 `(k)",
        "@P1 RET.REL.NODEC R8 `(k)",
        "@P{p} MOV R{a}, R{b}",
        "WARPSYNC R{a}",
    ),
)


@st.composite
def wild(draw: st.DrawFn) -> str:
    """Any instruction anywhere, barriers, calls and returns included."""
    count = draw(st.integers(2, 24))
    lines = []
    for number in range(count):
        values = {name: 2 * draw(st.integers(1, 4)) for name in "abc"}
        text = draw(st.sampled_from(_LINES))
        lines += [f"L{number}:", text.format(**values, p=draw(st.integers(0, 1)), t=draw(st.integers(0, count - 1)))]
    return "\n".join(lines)


def compare(cfg: Cfg) -> None:
    """All analyses of a graph against the slow ones."""
    assert list(reconvergence_points(cfg)) == slow.reconvergence_points(cfg)
    found, live = divergence(cfg), liveness(cfg)
    before, parting = slow.divergent(cfg, [branch.influence for branch in found.branches])
    assert found.divergent_in == before
    assert {branch.block for branch in found.branches if not branch.is_uniform} == parting
    for any_progress in (False, True):
        extra, kept = slow.kept(cfg, live, found, any_progress), warp_liveness(cfg, live, found, any_progress)
        wanted = tuple(one | extra[cfg.block_of[index]] for index, one in enumerate(live.live_in))
        assert kept.live_in == wanted
    regions = [slow.regions(cfg, one.influence) for one in found.branches if not one.is_uniform]
    assert torn_blocks(cfg, found) >= frozenset().union(*(side for sides in regions for side in sides))
    assert suspend_before(cfg.function) == slow.suspends(cfg.function)
    for window in (1, 3, 5):
        assert write_classes(cfg.function, window=window, source_slots=3) == slow.write_classes(cfg.function, window)


@settings(max_examples=150, deadline=None)
@given(st.one_of(wild(), structured(), programs()))
def test_fast_and_slow_analyses_agree(code: str) -> None:
    compare(graph(code))


def test_a_region_that_forgets_its_end_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control of the comparison."""
    code = """S2R R2, SR_TID.X
        MOV R6, RZ
        ISETP.LT.AND P0, PT, R2, R4, PT
        BSSY B0, `(out)
        @P0 BRA `(in)
        MOV R6, 0x1
        in:
        BSYNC B0
        out:
        MOV R4, R6"""
    compare(graph(code))
    monkeypatch.setattr(Regions, "_behind", lambda regions, block: [])
    with pytest.raises(AssertionError):
        compare(graph(code))


def calls(work: Callable[[Function], object], shape: str, count: int) -> int:
    """Calls of functions, builtins included, that `work` makes on a program of `count` instructions.

    Time is the judge of a benchmark (`make bench`); this is the same on every machine and under every load.
    """
    (function,) = parse(listing(SHAPES[shape](count)), "t").functions.values()
    made = 0

    def called(frame: object, event: str, argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work(function)
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.check
@pytest.mark.parametrize("shape", SHAPES)
def test_work_does_not_grow_with_the_square(shape: str) -> None:
    # Eight times the size: about 10 times the work in n log n, 64 in the square.
    assert 0 < calls(analyze_function, shape, 3200) < 16 * calls(analyze_function, shape, 400)


def test_an_analysis_that_asks_every_pair_is_caught() -> None:
    """Negative control of the limit: each instruction looks at every other."""

    def pairs(function: Function) -> None:
        for one in function.instructions:
            for other in function.instructions:
                one.__eq__(other)

    assert calls(pairs, "straight", 800) > 16 * calls(pairs, "straight", 100)


def test_who_calls_a_routine_is_not_asked_again_for_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    exit_of = Stretches.exit_of
    monkeypatch.setattr(Stretches, "exit_of", lambda *arguments: asked.append(None) or exit_of(*arguments))

    def times(count: int) -> int:
        (function,) = parse(listing(SHAPES["calls"](count)), "t").functions.values()
        asked.clear()
        analyze_function(function, ["regmutex"])
        return len(asked)

    assert 0 < times(3200) < 12 * times(400)


def test_one_function_of_a_listing(invoke: Invoke, tmp_path: Path) -> None:  # noqa: F811
    text = listing(SHAPES["loops"](60))
    path = tmp_path / "two.sass"
    path.write_text(text + text.replace(".text.kernel", ".text.other").replace("kernel:", "other:"))
    result = invoke("analyze", path, "--function", "other", "--json", tmp_path / "one.json")
    assert result.exit_code == 0 and "kernel:" not in result.stdout and "goes to" not in result.stdout
    (one,) = json.loads((tmp_path / "one.json").read_text())["functions"]
    assert one["name"] == "other"
    result = invoke("analyze", path, "--function", "third")
    assert result.exit_code == 2 and "kernel, other, not 'third'" in result.stderr
