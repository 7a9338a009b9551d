"""Tables of a study beside two of its machines."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from warpfile.pages.sticky_tables import COLUMNS, main, rows_of

KERNELS = ("a", "b", "c")


def row(scheme: str, kernel: str, cycles: int, reads: int, accesses: float, **more: str) -> dict[str, str]:
    own = {"scheme": scheme, "kernel": kernel, "cycles": str(cycles), "counter_bank_reads": str(reads)}
    rest = {
        "changes": "",
        "status": "ok",
        "baseline_cycles": "100",
        "counter_sources": "200",
        "counter_vector_reads": "",
    }
    return rest | own | {"bank_accesses_over_baseline": str(accesses), "ipc_over_matched": "1.5"} | more


def results() -> list[dict[str, str]]:
    """Every kernel alike: half the cycles of the baseline, three quarters of the reads of ``malekeh``."""
    found = []
    for kernel in KERNELS:
        found += [row("malekeh", kernel, 100, 120, 0.8), row("modern", kernel, 80, 200, 1.0)]
        found.append(row("sticky+scalar", kernel, 50, 150, 0.7, changes="collectors=3", counter_vector_reads="90"))
    return found


def test_a_machine_is_beside_the_baseline_and_two_schemes() -> None:
    malekeh, modern, ours = rows_of(results())
    assert ours == (
        "`sticky+scalar` `collectors=3`",
        "+100.0 [+100.0, +100.0]",
        "+50.0 [+50.0, +50.0]",
        "+60.0 [+60.0, +60.0]",
        "+100.0 [+100.0, +100.0]",
        "-55.0 [-55.0, -55.0]",
        "-30.0 [-30.0, -30.0]",
        "-15.0 [-15.0, -15.0]",
        "-10.0 [-10.0, -10.0]",
    )
    assert malekeh[4] == modern[3] == "" and malekeh[7:] == ("", "") and len(ours) == len(COLUMNS)


def test_a_kernel_that_one_machine_refused_counts_for_none() -> None:
    some = results()
    some[-1] |= {"status": "refused", "cycles": ""}
    some[-2] |= {"cycles": "1"}
    assert rows_of(some)[1:] == rows_of(results())[1:]


def test_kernels_that_differ_make_an_interval_and_may_leave_a_sign_open() -> None:
    some = results()
    for one, cycles in zip(some[2::3], (50, 90, 250), strict=True):
        one |= {"cycles": str(cycles)}
    assert rows_of(some)[2][1].startswith("undecided: ")


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        ((0, 3, 6), "must have modern and malekeh"),
        ((0, 1, 3, 4), "must have a machine of sticky"),
        ((0, 1, 2), "at least two"),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    kept: tuple[int, ...], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.csv"
    rows = [one for number, one in enumerate(results()) if number in kept]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(SystemExit):
        main([str(path)])
    assert says in capsys.readouterr().err
