"""Which kernels the claims about registers are of, and runs that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpfile.output.display import silent
from warpfile.pages.evidence import regmutex as page
from warpfile.pages.evidence.study import Run, studied
from warpfile.results.points import trace_of
from warpfile.schemes import find


@pytest.mark.check
def test_the_claims_are_of_the_kernels_that_registers_limit() -> None:
    full, half = page.limited(), page.limited(rows=page.ROWS)
    assert full == page.FULL
    assert tuple(kernel for kernel in half if kernel not in full) == page.HALF


def test_the_claims_name_no_kernel_twice() -> None:
    assert page.SPOT in page.FULL and not set(page.FULL) & set(page.HALF)
    for statement in page.STATEMENTS:
        assert statement.kernels() in (page.FULL, page.HALF, page._renamed())


@pytest.mark.check
def test_the_renamed_file_is_compared_on_all_kernels_of_which_a_warp_fits_into_a_bank() -> None:
    rows = find("virtualization").configuration(page.PRESET).rows
    fitting = [name for name in page.FULL if trace_of(name, "large").registers <= rows]
    assert [*page._renamed()] == fitting != [*page.FULL]


def test_a_size_that_does_not_fit_is_no_run_and_has_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpfile.results.result_cache.KEPT", tmp_path)
    fitting, large = page.POOL.with_changes(es_override=4).small, page.POOL.with_changes(es_override=12).small
    for _ in range(2):  # run, then kept
        study = studied([Run(fitting, "scan"), Run(large, "scan")], silent)
        assert study.fits(fitting, "scan") and not study.fits(large, "scan")
        with pytest.raises(ValueError, match="es_override must be below the 12 registers of the kernel, not 12"):
            study.of(large, "scan")
        assert study.of(fitting, "scan").cycles
