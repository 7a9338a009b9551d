"""Verilog for simulators is the same machine: only wires without a reader are removed."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from warpfile.schemes import SCHEMES
from warpfile.sim.mutation.mutants import same
from warpfile.sim.simulator_verilog import for_simulators
from warpfile.sim.simulators import run_plain

MODULE = """\
module part(a, b, sum);
  input [3:0] a, b;
  output [7:0] sum;
  wire [7:0] sum;
{body}
endmodule
"""
#: Prints the outputs of a module for every input.
BENCH = """\
module bench;
  reg [3:0] a, b;
  wire [7:0] sum;
  part dut (.a(a), .b(b), .sum(sum));
  integer at;
  initial for (at = 0; at < 256; at = at + 1) begin
    {a, b} = at;
    #1 $display("%h", sum);
  end
endmodule
"""
#: A sum that is wider than what is added, its parts in disorder, one of them read by another; an alias in two steps.
BODY = """\
  wire [4:0] \\both[0] ;
  wire [4:0] other;
  wire [1:0] again;
  assign sum[7:5] = ~ sum[2:0];
  assign sum[4:0] = a + b;
  assign \\both[0]  = sum[4:0];
  assign other = \\both[0] ;
  assign again = other[1:0];"""


def body(text: str, others: str = "") -> list[str]:
    return for_simulators(MODULE.format(body=text), others).splitlines()[4:-1]


def printed(text: str, folder: Path) -> list[str]:
    (folder / "part.v").write_text(text + BENCH)
    return run_plain("icarus", [folder / "part.v"], folder, top="bench").split()


def test_a_wire_that_is_assigned_in_parts_is_assigned_once_and_each_part_keeps_its_width() -> None:
    assert body(BODY) == [
        "  wire [2:0] \\sum.from.5  = ~ sum[2:0];",
        "  wire [4:0] \\sum.from.0  = a + b;",
        "  assign sum = { \\sum.from.5 , \\sum.from.0  };",
    ]


@pytest.mark.needs("iverilog")
def test_it_does_the_same(tmp_path: Path) -> None:
    text, pairs = MODULE.format(body=BODY), itertools.product(range(16), repeat=2)
    expected = [f"{(~(a + b) & 7) << 5 | a + b:02x}" for a, b in pairs]
    assert printed(text, tmp_path) == printed(for_simulators(text), tmp_path) == expected


@pytest.mark.parametrize("others", ["assign seen = dut.other;", "assign seen = dut.\\other ;"])
def test_what_is_looked_at_from_outside_is_still_there(others: str) -> None:
    found = "\n".join(body(BODY, others))
    assert "assign other = \\both[0] ;" in found and "assign \\both[0]  = sum[4:0];" in found
    assert "again" not in found


@pytest.mark.parametrize(
    "text",
    [
        "  assign sum[7:5] = a[2:0];\n  assign sum[3:0] = b;",  # a gap: the bit is z
        "  assign sum[7:4] = a;\n  assign sum[4:0] = b;",  # two drivers
        "  wire [3:0] seen;\n  assign seen = a;\n  below inside (\n    .pin(seen)\n  );\n  assign sum = 8'h00;",
        "  (* init = 4'h0 *)\n  wire [3:0] other;\n  assign other = a;\n  assign sum = 8'h00;",
        "  reg [3:0] kept;\n  always @(posedge a[0])\n    kept <= b;\n  assign sum = 8'h00;",
    ],
)
def test_all_else_stays_as_it_is(text: str) -> None:
    assert body(text) == text.splitlines()


@pytest.mark.check
@pytest.mark.parametrize("name", ["baseline", "malekeh", "rfc"])
def test_a_machine_is_proven_to_be_the_same(name: str) -> None:
    text = SCHEMES[name].verilog(SCHEMES[name].configuration("tiny", lanes=1), probes=True)
    short = for_simulators(text)
    assert short != text and same(text, short)
    if name == "baseline":
        assert not same(text, short.replace(" & ", " | ", 1))


def test_most_aliases_of_a_machine_go_and_what_stores_or_connects_stays() -> None:
    scheme = SCHEMES["baseline"]
    text = scheme.verilog(scheme.configuration("tiny", lanes=1), probes=True)
    short = for_simulators(text)
    assert short.count("\n") < 2 / 3 * text.count("\n")
    for kind in ("module ", "  reg ", "always ", "    .", "  input ", "  output "):
        assert [line for line in short.splitlines() if line.startswith(kind)] == [
            line for line in text.splitlines() if line.startswith(kind)
        ]
