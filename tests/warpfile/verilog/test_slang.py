"""slang, which reads SystemVerilog as the standard has it, finds nothing in generated files but what is named here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest
from pyslang import DiagnosticEngine, driver

from tests.warpfile.conftest import Made
from warpfile.schemes import SCHEMES

#: Warnings that stay, each with its reason.
WAIVED = {
    "empty-output-connection": "an output without a reader is left open, as docs/manifest.md says",
}
#: Those of the SRAMs and of the checker, which are written by hand.
WAIVED_BY_HAND = {
    "arith-op-mismatch": "what counts in loops is an integer, which has 32 bits and a sign",
    "sign-compare": "as above",
    "sign-conversion": "as above",
    "width-expand": "as above",
    "logical-op-parentheses": "&& binds closer than || in every language that has both",
}


def found(sources: Iterable[Path], top: str = "warpfile") -> dict[str, Counter[str]]:
    """Of each file, how often slang warns of what, with all its warnings on. Raises ``AssertionError`` for what it
    cannot read."""
    one = driver.Driver()
    one.addStandardArgs()
    files = " ".join(str(path) for path in sources)
    assert one.parseCommandLine(f"slang -Weverything --top {top} {files}") and one.processOptions()
    assert one.parseAllSources()
    messages = one.createCompilation().getAllDiagnostics()
    assert not any(message.isError() for message in messages), DiagnosticEngine.reportAll(one.sourceManager, messages)
    warnings: dict[str, Counter[str]] = defaultdict(Counter)
    for message in messages:
        file = Path(one.sourceManager.getFileName(message.location)).name
        warnings[file][one.diagEngine.getOptionName(message.code)] += 1
    return warnings


@pytest.mark.check
@pytest.mark.parametrize(("scheme", "preset"), [(name, "tiny") for name in SCHEMES])
def test_slang_finds_nothing(made: Made) -> None:
    package = made.verilog.with_name(f"{made.verilog.stem}_pkg.sv")
    warnings = found([*made.sources, package])
    for name, those in warnings.items():
        by_hand = name.endswith(("_sram.v", "_checks.v"))
        assert not those.keys() - WAIVED.keys() - (WAIVED_BY_HAND.keys() if by_hand else set())


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("output [3:0] y, input [7:0] a); assign y = a >> 1;", "width-trunc"),
        ("output reg y, input [1:0] a); always @* case (a) 2'h0: y = 1'h0; 2'h1: y = 1'h1; endcase", "case-default"),
    ],
)
def test_slang_finds_what_is_wrong(text: str, warning: str, tmp_path: Path) -> None:
    path = tmp_path / "part.v"
    path.write_text(f"module part({text}\nendmodule\n")
    assert warning in found([path], top="part")["part.v"]
    with pytest.raises(AssertionError):
        path.write_text("module part(output y); assign y = z[3:0]; endmodule\n")
        found([path], top="part")
