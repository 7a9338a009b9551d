"""From declared claims and outcomes to the data of a page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.warpfile.pages.evidence.made_up import KERNELS
from warpfile.pages.evidence import rendering
from warpfile.pages.evidence.factors import Factor
from warpfile.pages.evidence.samples import Metric
from warpfile.pages.evidence.statements import SEEDS, Statement, data, declared, facts, named, spot_points
from warpfile.pages.evidence.waterfall import axis_range, bars, data_stamp
from warpfile.results.points import Outcome, Point, Run
from warpfile.results.revision import MACHINE

BASE, OURS = Point("baseline", "tiny"), Point("regmutex", "tiny")
CLAIM = Statement(
    key="cycles",
    where="Fig. 1",
    metric=Metric("cycles", "growth", lambda ours, other: ours.cycles / other.cycles),
    paper=(-0.1, -0.1),
    point=OURS,
    over=BASE,
    kernels=lambda: KERNELS,
    factors=(Factor("fair", own={"fair": 1}, assumed="section 2"), Factor("wide", both={"rows": 128})),
)
#: Ten of a hundred slower as it is, ten faster with the first factor, and with both.
CYCLES = {(): 1100, (("fair", 1),): 900, (("fair", 1), ("rows", 128)): 900}


def outcomes(**more: str) -> dict[Run, Outcome]:
    """Of all that the claim asks for."""
    return {
        run: Outcome(1000 if run.point.scheme == "baseline" else CYCLES[run.point.changes], 1, {}, **more)  # type: ignore[arg-type]
        for run in (*CLAIM.runs(), *(Run(point, "one") for point in spot_points([CLAIM])))
    }


def test_a_claim_asks_for_every_step_on_every_kernel_at_every_seed() -> None:
    runs = list(CLAIM.runs())
    assert len(runs) == 3 * len(KERNELS) * len(SEEDS) * 2
    assert len(set(runs)) == (3 + 2) * len(KERNELS) * len(SEEDS)  # the first factor leaves the baseline as it is


def test_facts_have_every_step_and_the_verdict() -> None:
    found = facts(CLAIM, outcomes())
    assert [(step["factor"], step["mean"]) for step in found["steps"]] == [("", 0.1), ("fair", -0.1), ("wide", -0.1)]
    assert found["steps"][1]["moved"] == pytest.approx([-0.2, -0.2]) and found["steps"][0]["moved"] is None
    assert (found["verdict"], found["about"]) == ("reproduced under", "fair")
    unsaid = replace(CLAIM, factors=[replace(factor, assumed="") for factor in CLAIM.factors])
    assert facts(unsaid, outcomes())["verdict"] == "not reproduced"


def test_a_factor_counts_in_another_way_from_its_step_on() -> None:
    """The same runs: cycles of the machine in thousands, whatever is beside it."""
    thousands = Metric("thousands of cycles", "share", lambda ours, _: ours.cycles / 1000)
    first, wide = CLAIM.factors
    other = Factor("in thousands", counted=thousands)
    found = facts(replace(CLAIM, factors=(first, other, wide)), outcomes())
    assert [step["mean"] for step in found["steps"]] == pytest.approx([0.1, -0.1, 0.9, 0.9])
    assert "lambda" not in repr(other)  # or what is declared would have another hash in every run


def test_a_growth_names_what_is_beside_it() -> None:
    alone = replace(CLAIM.metric, beside=False)
    assert facts(CLAIM, outcomes())["metric"] == "cycles, over `baseline`"
    assert facts(replace(CLAIM, metric=alone), outcomes())["metric"] == "cycles"


def test_a_refused_run_stops_the_page() -> None:
    with pytest.raises(ValueError, match="cycles on one: no room"):
        facts(CLAIM, outcomes(refused="no room"))


def test_data_say_of_which_machine_and_declaration_they_are() -> None:
    found = data("regmutex", [CLAIM], "one", outcomes())
    assert found["machine"] == MACHINE and found["declared"] == declared([CLAIM]) != declared(
        [replace(CLAIM, where="2")]
    )
    assert found["spot"]["cycles"] == {
        "regmutex tiny large": 1100,
        "baseline tiny large": 1000,
        "regmutex tiny fair=1 large": 900,
        "regmutex tiny fair=1 rows=128 large": 900,
        "baseline tiny rows=128 large": 1000,
    }
    assert named(replace(BASE, oracle=True)) == "baseline tiny exact distances large"
    assert named(replace(BASE, issues="one warp")) == "baseline tiny large one warp"


def test_a_page_is_written_from_data_alone() -> None:
    found = data("regmutex", [CLAIM], "one", outcomes())
    text = rendering.page(found, "A paper", ["a table"])
    row = "| `cycles` | Fig. 1 | cycles, over `baseline` | -10.0% |"
    assert f"{row} +10.0% ± 0.0 [+10.0, +10.0] | reproduced under fair |" in text
    assert "`cycles`: `regmutex tiny large` beside `baseline tiny large`, 2 kernels; the paper has -10.0%." in text
    assert "| fair | -10.0% ± 0.0 [-10.0, -10.0] | -20.0 [-20.0, -20.0] | section 2 |" in text
    assert "| wide | -10.0% ± 0.0 [-10.0, -10.0] | not moved: +0.0 [+0.0, +0.0] | - |" in text
    assert "| other | +10.0% | -10.0% | -10.0% |" in text and text.endswith("* a table\n")
    assert "of machine 1" in rendering.page({**found, "machine": 1}, "A paper", [])


def test_a_summary_counts_verdicts() -> None:
    found = data("regmutex", [CLAIM, CLAIM], "one", outcomes())
    text = rendering.summary([found], ["pilot"])
    assert "| scheme | reproduced | reproduced under | not reproduced | undecided | all |" in text
    assert "| regmutex | 0 | 2 | 0 | 0 | 2 |" in text and "| all | 0 | 2 | 0 | 0 | 2 |" in text
    assert text.endswith("Declared and not run: pilot.\n")
    assert "No page is run." in rendering.summary([], []) and "not run:" not in rendering.summary([], [])
    assert rendering.summary([], ["regmutex", "bow"]).endswith("\nDeclared and not run: regmutex, bow.\n")


def test_bars_lead_from_the_paper_to_ours() -> None:
    found = data("regmutex", [CLAIM], "one", outcomes())
    some = bars(found["claims"][0])
    assert [bar.name for bar in some] == ["paper", "unexplained", "undone: wide", "undone: fair", "ours"]
    assert sum(bar.size for bar in some[:-1]) == pytest.approx(some[-1].size) == pytest.approx(0.1)
    assert axis_range(some) == pytest.approx((-0.13, 0.13))
    other = data("regmutex", [replace(CLAIM, paper=(-0.2, -0.2))], "one", outcomes())
    assert data_stamp(found) != data_stamp(other)
