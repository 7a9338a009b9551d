"""Reading the folder of a study, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.warpfile.results.reports.made_up import logged_beat, random_study, row, study, written
from warpfile.results.reports.source import Machine, kernel_names, read_study
from warpfile.results.studies.table import write_table

ABOUT = {"asked": {"pipeline": {"cycles": [3, 9]}}, "versions": {}, "sources": {}}


def test_a_study_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = random_study(1)
    read = read_study(written(study(*made.rows, pipeline_log=[logged_beat(0, 1, 2, 3)], about=ABOUT), tmp_path))
    assert read.rows == made.rows and read.name == "made" and read.seeds == [-4, -2, 0, 2, 4]
    assert read.pipeline_log[0]["issued"] == 3 and read.modules == [] and read.about == ABOUT and read.window == (3, 9)
    assert read.pipeline_log[0]["written"] is None  # a column that the file does not have


def test_machines_are_called_by_what_tells_them_apart() -> None:
    made = study(row(), row(preset="pascal"), row("rfc", changes="active_warps=4 lanes=1"), row("baseline"))
    assert list(made.names.values()) == ["bow tiny", "bow pascal", "rfc active_warps=4 lanes=1", "baseline"]
    assert made.machines[2].fields == {"active_warps": "4", "lanes": "1"}


def test_kernels_have_their_setting_where_there_are_several() -> None:
    assert kernel_names([("a", "launch"), ("b", "launch")]) == {("a", "launch"): "a", ("b", "launch"): "b"}
    assert kernel_names([("a", "launch"), ("a", "large")])["a", "large"] == "a large"


def test_what_was_refused_is_no_figure() -> None:
    made = study(row(), row(kernel="spmv", status="refused", error="too large"))
    assert len(made.of(Machine("bow", "tiny", ""))) == 1 and made.left_out[0]["error"] == "too large"


def test_a_folder_without_a_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must be the folder of a study, with results\.parquet"):
        read_study(tmp_path)
    (tmp_path / "results.parquet").write_text("no table")
    with pytest.raises(ValueError, match=r"results\.parquet is not Parquet"):
        read_study(tmp_path)
    write_table([{"a": 1}], tmp_path / "results")
    with pytest.raises(ValueError, match="must be a table that warpfile study wrote: it has no study"):
        read_study(tmp_path)


@pytest.mark.parametrize(
    ("text", "wrong"), [("{", "is not JSON"), ("[]", "must be a file that"), ('{"asked": 1}', "with asked")]
)
def test_a_damaged_description_is_refused(tmp_path: Path, text: str, wrong: str) -> None:
    written(study(row()), tmp_path)
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(ValueError, match=wrong):
        read_study(tmp_path)


def test_a_damaged_table_of_beats_is_refused_and_a_damaged_window_is_none(tmp_path: Path) -> None:
    written(study(row()), tmp_path)
    write_table([{"study": "made", "scheme": "bow", "preset": "tiny", "changes": ""}], tmp_path / "pipeline_log")
    with pytest.raises(
        ValueError, match=r"pipeline_log\.parquet must be a table that warpfile study wrote: it has no kernel"
    ):
        read_study(tmp_path)
    for pipeline in (None, 3, {}, {"cycles": 3}, {"cycles": [1, "2"]}):
        assert study(row(), about={"asked": {"pipeline": pipeline}}).window is None
