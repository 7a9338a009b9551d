"""Which runs the long regressions have."""

from __future__ import annotations

from collections import Counter

import pytest

from warpfile.output.display import silent
from warpfile.pages.regress import NEWER, kernel_trace, lockstep, main, of_domain
from warpfile.schemes import SCHEMES, Setup
from warpfile.spec.presets import PRESETS
from warpfile.workloads.inputs import obtain_trace


def test_another_domain_is_that_of_the_presets_that_have_so_many() -> None:
    setups = [Setup("turing", {"lanes": 1}), Setup("tiny"), Setup("pascal", settings=("large",))]
    assert of_domain(setups, 0) == setups
    assert of_domain(setups, 3) == [
        Setup("turing", {"lanes": 1, "domain": 3}),
        Setup("pascal", {"domain": 3}, settings=("large",)),
    ]
    assert of_domain(setups, 4) == []


def test_a_regression_has_every_domain_of_every_preset() -> None:
    setups = SCHEMES["baseline"].regression
    for domain in range(4):
        configs = [SCHEMES["baseline"].configuration(one.preset, **one.changes) for one in of_domain(setups, domain)]
        assert {cfg.domain for cfg in configs} == {domain}
        assert len(configs) == sum(preset.config.domains > domain for preset in PRESETS.values())


@pytest.mark.parametrize(
    ("options", "words"),
    [(("--domain", "1"), "--domain must go with --print"), (("--domain", "9"), "invalid choice: 9")],
)
def test_a_wrong_request_is_refused(options: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["baseline", *options])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("preset", NEWER)
def test_kernels_are_those_of_the_presets_gpu(preset: str) -> None:
    assert getattr(SCHEMES["modern"].configuration(preset), "codes_for") == NEWER[preset]  # noqa: B009
    assert preset in {setup.preset for setup in SCHEMES["modern"].regression}


@pytest.mark.check
@pytest.mark.needs("nvdisasm")
@pytest.mark.parametrize("scheme", ["modern", "baseline"])
@pytest.mark.parametrize("preset", NEWER)
def test_rtl_and_golden_model_agree_on_code_of_newer_gpus(preset: str, scheme: str) -> None:
    setup = Setup(preset, {"lanes": 1})
    trace = kernel_trace(preset, "random_walk", "launch")
    assert trace.program != obtain_trace("random_walk", "launch", None, silent).program
    report = lockstep(SCHEMES[scheme], setup, trace, "random_walk", Counter())
    assert report and report.outcome.operands_checked and not report.outcome.mismatches
