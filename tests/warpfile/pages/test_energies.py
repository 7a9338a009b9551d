"""The page of memories at one set of prices."""

from __future__ import annotations

import pytest

from warpfile.pages import energies


def test_a_scheme_that_a_preset_does_not_fit_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energies, "KERNELS", ())
    line = "Not `larf`: domains must be 1, not 4: stores of other domains do not pass the address table.\n"
    assert energies.page().endswith(f"\n{line}")


def test_help_helps_and_measures_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energies, "page", None)
    with pytest.raises(SystemExit) as ended:
        energies.main(["--help"])
    assert ended.value.code == 0 and "--check" in capsys.readouterr().out
