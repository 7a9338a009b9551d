"""What a machine needs once is made before it is needed."""

from __future__ import annotations

import pytest

from warpfile import compile as models
from warpfile import prepare, webassembly


def test_both_yosys_and_the_models_are_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(webassembly, "prepare", lambda program: made.append(program.name))
    monkeypatch.setattr(models, "main", lambda: made.append("models"))
    prepare.main()
    assert sorted(made) == ["Amaranth's yosys", "models", "yosys"]


def test_what_cannot_be_prepared_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(program: webassembly.Program) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(webassembly, "prepare", full)
    monkeypatch.setattr(models, "main", lambda: None)
    with pytest.raises(OSError, match="No space left"):
        prepare.main()
