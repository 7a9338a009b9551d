"""A search from its file to its findings, small enough to wait for. Golden models run; synthesis is made up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.conftest import Invoke
from warpfile.results.searches import plan, search
from warpfile.results.searches.areas import features
from warpfile.results.searches.plan import search_plan
from warpfile.results.searches.report import report
from warpfile.results.searches.search import Findings, searched
from warpfile.results.searches.space import COMBINATION, PUBLISHED, RESIZED
from warpfile.results.studies.tasks import GOLDEN, LOCKSTEP, OK, PATH, Done, Task, finished, run_task
from warpfile.schemes import find

TABLE = {
    "name": "small",
    "kernels": ["warp_reduce"],
    "schemes": ["bow_wr", "pilot"],
    "preset": "tiny",
    "seeds": [0, 2],
    "sizes": {"bow": {"window_entries": [3, 4]}},
    "lockstep": {"kernels": ["warp_reduce"]},
    "most_error": 0.02,
}
#: NAND2 equivalents of parts, and of all others.
LOGIC, OTHERS = {"gto": 20_000.0, "oldest": 15_000.0, "bow": 50_000.0, "pilot": 5_000.0}, 10_000.0
Answers = Callable[..., dict[Task, Done]]


@pytest.fixture(scope="module")
def golden() -> dict[Task, Done]:
    """Golden runs that have been done."""
    return {}


@pytest.fixture
def answers(golden: dict[Task, Done]) -> Callable[[dict[str, float], Done], Answers]:
    """Makes what stands in for a cluster, with areas that are wrong by factors, by name of the scheme."""

    def made(wrong: dict[str, float], lockstep: Done) -> Answers:
        def outcomes(tasks: Iterable[Task], *_: Any, **__: Any) -> dict[Task, Done]:
            return {task: answer(task) for task in tasks}

        def answer(task: Task) -> Done:
            if task.kind == GOLDEN and task not in golden:
                golden[task] = run_task(task, task.key)
            if task.kind in (GOLDEN, LOCKSTEP):
                return golden[task] if task.kind == GOLDEN else lockstep
            point = task.run.point
            parts = find(point.scheme).parts(task.run.config)
            nand2 = sum(LOGIC.get(part.name, OTHERS) for part in parts) + 100 * dict(point.changes).get(
                "window_entries", 4
            )
            return finished({"nand2_equivalents": nand2 * wrong.get(point.scheme, 1.0)})

        return outcomes

    return made


EQUAL = Done(OK, {"cycles": 10})


def found(answers: Any, monkeypatch: pytest.MonkeyPatch, **wrong: float) -> Findings:
    monkeypatch.setattr(search, "outcomes", answers(wrong, EQUAL))
    return searched(search_plan(TABLE, Path(), "small"), lambda: iter(()), lambda *_: None)


@pytest.mark.check
def test_what_is_at_the_front_was_synthesised_and_run_at_all_seeds(
    answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = found(answers, monkeypatch)
    every = {one.name: one for one in it.search.candidates}
    assert len(it.figures) == len(every) > 15 and not it.left
    assert it.synthesised < len(every), "some areas are estimated"
    assert all(it.finalists[name].measured and len(it.finalists[name].ipc.seeds.values) == 2 for name in it.front)
    assert {name for name, one in every.items() if one.kind == PUBLISHED} <= it.finalists.keys()
    assert it.figures["baseline"].ipc.values == {"warp_reduce launch": [1.0]} and it.figures["baseline"].area == 0
    assert any(every[name].kind == COMBINATION for name in it.front)
    assert it.lockstep.keys() == set(it.front) and it.runs > len(every) and it.seconds > 0
    assert all(one.path is None for one in it.finalists.values()), "nothing is timed without a library"


@pytest.mark.check
def test_the_baseline_in_other_sizes_is_judged_wherever_it_stands(
    answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = found(answers, monkeypatch)
    every = {one.name: one for one in it.search.candidates}
    resized = {name for name, one in every.items() if one.kind == RESIZED and one.scheme.name.startswith("baseline")}
    assert len(resized) > 1 and resized - set(it.front), "some are not at the front"
    assert all(it.finalists[name].measured and len(it.finalists[name].ipc.seeds.values) == 2 for name in resized)
    others = {name for name, one in every.items() if one.kind == RESIZED} - resized
    assert not (others & it.finalists.keys()) - set(it.front), "of others only those at the front"


def test_areas_that_are_estimated_are_those_that_would_be_synthesised(
    answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = found(answers, monkeypatch)
    guessed = [one for one in it.search.candidates if not it.figures[one.name].measured]
    assert guessed and abs(it.errors.worst[1]) < 0.02
    for one in guessed:
        right = sum(LOGIC.get(part.name, OTHERS) for part in one.parts)
        entries = getattr(one.config, "window_entries", 0)
        assert it.model.nand2(features(one)) == pytest.approx(right + 100 * entries, rel=0.02)


def test_what_is_at_the_front_is_timed_where_there_is_a_library(
    answers: Any, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    """The baseline takes 2 ns and each other machine 3."""
    rest = answers({}, EQUAL)

    def outcomes(tasks: Iterable[Task], *others: Any, **__: Any) -> dict[Task, Done]:
        every = list(tasks)
        lengths = {task: 2.0 if task.run.point.scheme == "baseline" else 3.0 for task in every if task.kind == PATH}
        timed = {task: finished({"nanoseconds": length}) for task, length in lengths.items()}
        return timed | rest([task for task in every if task.kind != PATH])

    monkeypatch.setattr(search, "outcomes", outcomes)
    monkeypatch.setattr(plan, "timer", lambda: "sta")
    asked = search_plan(TABLE | {"delays": str(root / "synth/nand2.lib")}, Path(), "small")
    it = searched(asked, lambda: iter(()), lambda *_: None)
    schemes = {one.name: one.scheme.name for one in asked.candidates}
    assert {schemes[name]: it.finalists[name].path for name in it.front}.items() <= {
        **dict.fromkeys(schemes.values(), 1.5),
        "baseline": 1.0,
    }.items()
    assert "Critical paths were not timed" not in report(it) and "| 1.50 |" in report(it)


def invoked(table: dict[str, Any], tmp_path: Path, invoke: Invoke) -> Any:
    path = tmp_path / "small.toml"
    lines = [f"{name} = {json.dumps(value)}" for name, value in table.items() if not isinstance(value, dict)]
    lines += ["[sizes]", "bow.window_entries = [3, 4]", "[lockstep]", 'kernels = ["warp_reduce"]']
    path.write_text("\n".join(lines))
    return invoke("search", str(path), "-o", str(tmp_path / "out"), "--json", str(tmp_path / "facts.json"))


def test_the_command_writes_its_findings(
    tmp_path: Path, invoke: Invoke, answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "outcomes", answers({}, EQUAL))
    assert invoked(TABLE, tmp_path, invoke).exit_code == 0
    page = (tmp_path / "out" / "search.md").read_text()
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert "## Verdict" in page and all(f"| `{name}` |" in page for name in facts["front"])
    assert (tmp_path / "out" / "candidates.parquet").exists()
    assert invoked(TABLE, tmp_path, invoke).exit_code == 0
    assert (tmp_path / "out" / "search.md").read_text() == page, "the same findings are the same bytes"


def test_a_model_that_is_too_far_off_is_not_believed(
    tmp_path: Path, invoke: Invoke, answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = {"bow_wr": 2.0, "pilot": 0.5, "bow_wr+pilot": 2.0}
    monkeypatch.setattr(search, "outcomes", answers(planted, EQUAL))
    done = invoked(TABLE, tmp_path, invoke)
    assert done.exit_code == 1 and "areas are off by" in done.stderr


def test_a_machine_that_differs_from_its_model_is_not_believed(
    tmp_path: Path, invoke: Invoke, answers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "outcomes", answers({}, finished({"cycles": 10, "mismatches": 1})))
    result = invoked(TABLE, tmp_path, invoke)
    assert result.exit_code == 1 and "failed in lockstep" in result.stderr


def test_a_baseline_that_does_not_run_is_refused(answers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "outcomes", answers({}, EQUAL))
    asked = search_plan(TABLE | {"kernels": ["saxpy"], "lockstep": {"kernels": ["saxpy"]}}, Path(), "small")
    with pytest.raises(ValueError, match="the baseline must run every kernel: a CTA of saxpy has 8 warps"):
        searched(asked, lambda: iter(()), lambda *_: None)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"preset": "gold"}, "preset must be one of"),
        ({"parts": ["gold"]}, "parts must be of"),
        ({"schemes": ["gold"]}, "SCHEME must be one of"),
        ({"most_error": 2}, "most_error must be a number from 0 to 1"),
        ({"sizes": {"gold": {"a": [1]}}}, "sizes: fields must be"),
        ({"lockstep": {"kernels": ["gold"]}}, "lockstep: kernels must be of those of the search"),
        ({"set": {"warps": 0}}, "warps must be"),
    ],
)
def test_what_there_is_not_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search_plan({**TABLE, **wrong}, Path(), "small")
