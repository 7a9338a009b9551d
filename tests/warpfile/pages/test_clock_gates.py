"""The page of what is clock-gated: its rows, and that it is what its command writes."""

from __future__ import annotations

import pytest

from warpfile.pages import clock_gates
from warpfile.synth.storage import StructureBits


def structure(name: str, bits: int, gated: int, kind: str = "flip-flops") -> StructureBits:
    return StructureBits(name, kind, bits, None, "", gated)


def test_a_reason_stands_where_something_has_no_gate() -> None:
    given = [
        structure("buffers", 2048, 2000),
        structure("scoreboards", 64, 0),
        structure("one thing", 3, 0),
        structure("another", 4, 0),
        structure("banks", 9999, 0, "memory"),
    ]
    assert list(clock_gates.rows(given)) == [
        ("buffers", "2,048", "2,000", ""),
        ("scoreboards", "64", "0", clock_gates.WHY["scoreboards"]),
        ("all others", "7", "0", clock_gates.OTHERS),
    ]


def test_every_reason_is_for_a_structure_of_a_scheme() -> None:
    assert clock_gates.WHY.keys() <= clock_gates.known()


@pytest.mark.check
def test_the_page_is_what_its_command_writes(capsys: pytest.CaptureFixture[str]) -> None:
    assert clock_gates.main(["--check"]) == 0, capsys.readouterr().out
