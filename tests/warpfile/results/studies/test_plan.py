"""Which points a study has, and what is wrong with one that has none."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.conftest import CODE, write_listing
from tests.warpfile.results.studies.conftest import GROUP, plan
from warpfile.results.points import SOURCES
from warpfile.results.studies.plan import read_study, study_plan
from warpfile.results.studies.tasks import AREA, GOLDEN, LOCKSTEP, PATH, PIPELINE_LOG
from warpfile.schemes import SCHEMES
from warpfile.synth.liberty import NAND2_UNITS
from warpfile.workloads.inputs import bundled_kernels

STUDY = """kernels = ["coun?", "saxpy"]
seeds = [0, 2]
golden = true
area = true
[[machines]]
schemes = ["bow"]
presets = ["tiny", "pascal"]
set.window = [2, 3]
"""


def test_points_are_all_combinations_in_the_order_of_the_file(kernel: Path, tmp_path: Path) -> None:
    (tmp_path / "sizes.toml").write_text(STUDY)
    study = study_plan(read_study(tmp_path / "sizes.toml"), tmp_path, "sizes.toml")
    assert study.name == "sizes" and study.kinds == (GOLDEN, AREA) and len(study.cases) == 2 * 4 * 2
    assert [case.label for case in study.cases[:4]] == [
        "bow tiny window=2, count, launch, seed 0",
        "bow tiny window=2, count, launch, seed 2",
        "bow tiny window=3, count, launch, seed 0",
        "bow tiny window=3, count, launch, seed 2",
    ]
    assert study.cases[-1].label == "bow pascal window=3, saxpy, launch, seed 2"
    assert len({case.label for case in study.cases}) == len(study.cases)


def test_every_machine_has_the_baseline_of_its_preset_beside_it_and_each_is_run_once() -> None:
    study = plan(
        {"schemes": ["bow", "bow_wr"], "presets": ["tiny"], "set": {"banks": [2, 4], "window": 3}},
        {"schemes": ["bow"], "presets": ["pascal"]},
    )
    beside = [case.baseline.machine.label for case in study.cases if case.baseline]
    assert beside == ["baseline tiny banks=2"] * 2 + ["baseline tiny banks=4"] * 2 + ["baseline pascal"]
    matched = [case.matched.machine.label for case in study.cases if case.matched]
    assert matched == [f"baseline tiny banks={n} collectors=5" for n in (2, 2, 4, 4)] + ["baseline pascal"]
    assert len(study.tasks) == 5 + 3 + 2  # at pascal the matched baseline is the baseline
    assert not {task.run.point.scheme for task in study.tasks} - {"bow", "bow_wr", "baseline"}


def test_a_default_that_is_written_out_makes_no_other_machine() -> None:
    default = SCHEMES["bow"].configuration("tiny").window
    swept = {"schemes": ["bow"], "presets": ["tiny"], "set": {"window": [default, default + 1]}}
    study = plan({"schemes": ["bow"], "presets": ["tiny"]}, swept)
    assert [case.machine.label for case in study.cases] == ["bow tiny", f"bow tiny window={default + 1}"]


def test_a_scheduler_of_the_machine_is_that_of_its_baseline_too() -> None:
    (case,) = plan({"schemes": ["bow"], "presets": ["turing"], "parts": ["two_level"]}).cases
    assert case.machine.scheme.name == "bow+two_level"
    assert case.baseline and case.baseline.machine.scheme.name == "baseline+two_level"


def test_what_all_stands_for_and_whose_parts_never_fit_is_a_refused_machine() -> None:
    cases = plan({"schemes": ["all"], "parts": ["rfc"]}).cases
    refused = {case.machine.scheme.name: case.machine.refused for case in cases if not case.machine.design}
    assert len(cases) == len(SCHEMES) and "bow+rfc" in refused and "rfc" not in refused
    assert refused["bow+rfc"].startswith("parts must fit: bow wants")
    with pytest.raises(ValueError, match=r"bow\+rfc: parts must fit"):
        plan({"schemes": ["all", "bow"], "parts": ["rfc"]})


def test_an_area_is_taken_once_for_all_kernels_and_seeds() -> None:
    study = plan(kernels=["saxpy", "spmv"], seeds=[0, 2], golden=True, lockstep=True, area=True)
    counts = [sum(task.kind == kind for task in study.tasks) for kind in (GOLDEN, LOCKSTEP, AREA)]
    assert counts == [3 * 4, 4, 2]
    assert [task.kind for task in study.tasks] == [GOLDEN] * 12 + [LOCKSTEP] * 4 + [AREA] * 2


def test_a_study_of_areas_needs_no_kernel() -> None:
    study = study_plan({"area": True, "machines": [GROUP]}, Path(), "study")
    assert [case.label for case in study.cases] == ["bow tiny"] and len(study.tasks) == 2


def test_all_stands_for_every_scheme_and_every_kernel() -> None:
    study = plan({"schemes": ["all"]}, kernels=["all"])
    assert len(study.cases) == len(SCHEMES) * len(bundled_kernels())
    assert {case.machine.preset for case in study.cases} == {scheme.preset for scheme in SCHEMES.values()}


def test_a_machine_that_cannot_be_is_a_point_with_its_reason() -> None:
    study = plan({"schemes": ["baseline", "rfc"], "presets": ["isca2011"], "set": {"domain": [0, 1]}})
    assert [bool(case.machine.refused) for case in study.cases] == [False, False, True, True]
    assert "domain must be below the number of domains, 1" in study.cases[-1].machine.refused
    assert len(study.tasks) == 3  # the matched baseline of rfc has a unit more


def test_a_field_that_only_one_scheme_has_is_set_in_that_one() -> None:
    study = plan({"schemes": ["bow", "baseline"], "presets": ["tiny"], "set": {"window": [2, 3]}})
    assert [case.machine.label for case in study.cases] == ["bow tiny window=2", "baseline tiny", "bow tiny window=3"]


def test_a_study_of_too_many_points_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpfile.results.studies.plan.MOST", 4)
    assert len(plan(kernels=["saxpy", "spmv"], seeds=[0, 2]).cases) == 4
    with pytest.raises(ValueError, match="study: a study must have at most 4 points, not 6"):
        plan(kernels=["saxpy", "spmv"], seeds=[0, 2, 4])


def test_a_kernel_of_ones_own_is_known_by_what_it_holds(kernel: Path, tmp_path: Path) -> None:
    def key() -> str:
        (case,) = plan(kernels=[str(kernel)]).cases
        return case.task(GOLDEN).run.key(SOURCES)

    first = key()
    moved = tmp_path / "elsewhere"
    shutil.copytree(kernel, moved)
    (case,) = plan(kernels=["elsewhere"]).cases
    assert case.task(GOLDEN).run.key(SOURCES) == first
    write_listing(kernel, ("NOP", *CODE))
    assert key() != first


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kernels": ["spvm"]}, "study: KERNEL must be a bundled kernel .* not 'spvm'; did you mean 'spmv'"),
        ({"kernels": ["q*"]}, "KERNEL must be a bundled kernel .* not 'q\\*'"),
        ({"kernels": ["absent.npz"]}, "KERNEL must be .* a .npz trace, not 'absent.npz'"),
        ({"kernels": "spmv"}, "study: kernels must be a list of texts, not 'spmv'"),
        ({"kernels": ["."]}, "kernel.sass"),
        ({"settings": ["huge"]}, "settings must be of launch, large, steady, not 'huge'"),
        ({"seeds": [1, 1]}, "seeds must be a list of up to 20 different whole numbers, not"),
        ({"seeds": list(range(21))}, "seeds must be a list of up to 20"),
        ({"golden": 1}, "golden must be true or false, not 1"),
        ({"kernel": ["spmv"]}, "fields must be machines, name, kernels, .* not kernel"),
        ({"prices": "gold"}, "prices must be one of .*rfc.* not 'gold'"),
        ({"machines": {}}, "machines must be a list of tables"),
        ({"machines": [{}]}, "machines 1: schemes must be a list of texts, not None"),
        ({"machines": [{"schemes": ["bwo"]}]}, "SCHEME must be one of .*bow.* not 'bwo'"),
        ({"machines": [{"schemes": ["bow+rfc"]}]}, "parts must fit: bow wants"),
        ({"machines": [GROUP, {**GROUP, "preset": "tiny"}]}, "machines 2: fields must be .* not preset"),
        ({"machines": [{**GROUP, "presets": ["gtx"]}]}, "presets must be of turing, .* not 'gtx'"),
        ({"machines": [{**GROUP, "set": {"widow": 3}}]}, "'widow' is no configuration field; did you mean 'window'"),
        ({"machines": [{**GROUP, "set": {"window": ["few"]}}]}, "window must be a whole number, not 'few'"),
        ({"machines": [{**GROUP, "set": {"window": True}}]}, "window must be a whole number, not 'True'"),
        ({"machines": [{**GROUP, "set": {"window": []}}]}, "window must have values"),
        (
            {
                "machines": [
                    {
                        **GROUP,
                        "set": {name: list(range(1, 50)) for name in ("alu_latency", "sfu_latency", "hit_latency")},
                    }
                ]
            },
            "a group must have at most 100,000 machines, not 117,649",
        ),
        ({"machines": [{**GROUP, "parts": ["nope"]}]}, "a part must be one of .* not 'nope'"),
    ],
)
def test_a_wrong_table_is_refused_in_one_line(fields: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, OSError)) as refused:
        plan(**fields)
    assert re.search(words, str(refused.value)) and "\n" not in str(refused.value)


def test_a_window_is_watched_at_the_first_seed_of_its_kernels_without_baselines() -> None:
    study = plan(kernels=["saxpy", "spmv"], seeds=[0, 2], pipeline={"cycles": [10, 20], "kernels": ["spmv"]})
    (task,) = (task for task in study.tasks if task.kind == PIPELINE_LOG)
    assert (task.run.kernel, task.run.seed, task.asked) == ("spmv", 0, (10, 20))
    assert task.key != replace(task, asked=(10, 21)).key
    every = plan(kernels=["saxpy", "spmv"], pipeline={"cycles": [10, 20]})
    assert sum(task.kind == PIPELINE_LOG for task in every.tasks) == 2


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ({"cycles": [5, 4]}, "pipeline: cycles must be the first and the last of up to 1,000 cycles"),
        ({"cycles": [0, 1000]}, "cycles must be the first and the last of up to 1,000"),
        ({"cycles": [0, 9], "kernels": ["spmv"]}, "kernels must be of those of the study, saxpy, not 'spmv'"),
        ({"kernels": ["saxpy"]}, "cycles must be"),
    ],
)
def test_a_window_that_cannot_be_is_refused(window: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        plan(pipeline=window)


def test_critical_paths_are_timed_where_a_library_is_given_and_opensta_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cells = {"delays": str(NAND2_UNITS)}
    monkeypatch.setattr("warpfile.results.studies.plan.timer", lambda: "2.0")
    study = plan(area=True, golden=True, **cells)
    paths = [task for task in study.tasks if task.kind == PATH]
    assert [task.run.point.scheme for task in paths] == ["bow", "baseline"] and study.kinds == (GOLDEN, AREA, PATH)
    assert PATH not in plan(golden=True, **cells).kinds
    other = tmp_path / "other.lib"
    other.write_text(NAND2_UNITS.read_text())
    (same, _) = (task for task in plan(area=True, delays=str(other)).tasks if task.kind == PATH)
    assert same.key == paths[0].key
    other.write_text(NAND2_UNITS.read_text() + "\n")
    (changed, _) = (task for task in plan(area=True, delays=str(other)).tasks if task.kind == PATH)
    assert changed.key != paths[0].key
    monkeypatch.setattr("warpfile.results.studies.plan.timer", str)
    assert PATH not in plan(area=True, **cells).kinds


def test_a_library_that_cannot_be_used_is_refused() -> None:
    with pytest.raises(ValueError, match=r"study: .*absent\.lib"):
        plan(area=True, liberty="absent.lib")
