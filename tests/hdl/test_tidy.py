"""Tidied Verilog does what yosys' own does, and has no net without a reader."""

from pathlib import Path
from types import ModuleType

import pytest

from tests.hdl.equivalence import prove
from warpfile.hdl.expressions import Const, sliced
from warpfile.hdl.tidy import places, registers, tidied
from warpfile.pages.readability import figures
from warpfile.schemes import SCHEMES, TOP
from warpfile.verilog.generate import design, presented
from warpfile.verilog.names import Names
from warpfile.yosys import YosysError

#: In ``make test``; all others in ``make check``.
IN_TEST = ("baseline",)
SMALL = """\
module part(a, b, c, sel, clk, rst, y, z, q, held);
  wire [3:0] \\$1 ;
  wire [3:0] \\$2 ;
  wire \\$3 ;
  wire [3:0] \\$4 ;
  wire [7:0] \\$5 ;
  wire [5:0] \\$6 ;
  wire \\$7 ;
  reg [3:0] \\$8 ;
  reg [3:0] \\$9 ;
  reg \\$auto$verilog_backend.cc:1:dump_module$1  = 0;
  input [3:0] a;
  wire [3:0] a;
  input [3:0] b;
  wire [3:0] b;
  input [7:0] c;
  wire [7:0] c;
  input [2:0] sel;
  wire [2:0] sel;
  input clk;
  wire clk;
  input rst;
  wire rst;
  output [7:0] y;
  wire [7:0] y;
  output [5:0] z;
  wire [5:0] z;
  output q;
  wire q;
  output [3:0] held;
  (* init = 4'h0 *)
  reg [3:0] held = 4'h0;
  wire [3:0] \\c.low ;
  wire \\c.unread ;
  assign \\c.low  = c[3:0];
  assign \\c.unread  = c[7];
  assign \\$1  = a + b;
  assign \\$2  = ~ a;
  assign \\$3  = \\$2  == 4'hf;
  assign \\$4  = c[3:0] & b;
  assign \\$5  = \\$1  + c;
  assign y = \\$5 ;
  assign \\$6  = a * 3'h4;
  assign z = \\$6 ;
  assign \\$7  = c >> sel;
  assign q = \\$7  | \\$3 ;
  always @(posedge clk)
    held <= \\$8 ;
  always @* begin
    if (\\$auto$verilog_backend.cc:1:dump_module$1 ) begin end
    \\$8  = held;
    if (sel[2]) begin
      \\$8  = \\$9 ;
    end
    if (rst) begin
      \\$8  = 4'h0;
    end
  end
  always @* begin
    if (\\$auto$verilog_backend.cc:1:dump_module$1 ) begin end
    (* full_case = 32'd1 *)
    casez (sel[1:0])
      2'h0:
          \\$9  = \\$4 ;
      2'h1, 2'h2:
          \\$9  = { a[0], a[0], a[0], a[0] };
      2'h3:
          \\$9  = b;
    endcase
  end
endmodule

module whole(a, clk, rst, y);
  input [3:0] a;
  wire [3:0] a;
  input clk;
  wire clk;
  input rst;
  wire rst;
  output y;
  wire y;
  wire [7:0] other;
  part one (
    .a(a),
    .b(a),
    .c({ a, a }),
    .clk(clk),
    .held(),
    .q(y),
    .rst(rst),
    .sel(a[2:0]),
    .y(other),
    .z()
  );
endmodule
"""


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in IN_TEST else pytest.mark.check) for one in SCHEMES]
)
def test_every_module_does_the_same(name: str, tmp_path: Path) -> None:
    cfg = SCHEMES[name].configuration("tiny")
    _, raw = design(SCHEMES[name], cfg, probes=SCHEMES[name].probes(cfg))
    assert prove(tidied(raw, TOP), raw, tmp_path) > 15


def test_small_modules_do_the_same_in_fewer_words(tmp_path: Path) -> None:
    text = tidied(SMALL, "whole")
    assert prove(text, SMALL, tmp_path) == 2
    assert "  assign y = {4'h0, a + b} + c;\n" in text, "a sum of four bits has no fifth one"
    assert "  assign q = c[sel] | (~a == 4'hf);\n" in text
    assert "  assign z = {a, 2'h0};\n" in text
    assert "  always @(posedge clk)\n    if (rst) begin\n      held <= 4'h0;\n    end else if (sel[2]) begin\n" in text
    assert "(\\c.low  & b)" in text and "{4{a[0]}}" in text and "unread" not in text and "other" not in text
    assert "@*" not in text and "(*" not in text


def test_elements_of_an_array_are_read_by_their_place(tmp_path: Path) -> None:
    given = SMALL.replace("  wire \\c.unread ;", "  wire \\c.unread ;\n  wire [3:0] \\c[0] ;\n  wire [3:0] \\c[1] ;")
    given = given.replace("  assign \\c.low  = c[3:0];", "  assign \\c[0]  = c[3:0];\n  assign \\c[1]  = c[7:4];")
    given = given.replace("  assign y = \\$5 ;", "  assign y = {c[7:4], c[5:4], c[6], c[4]};")
    text = tidied(given, "whole")
    assert prove(text, given, tmp_path) == 2
    assert "  assign y = {c[1*4 +: 4], c[1*4 +: 2], c[1*4+2], c[1*4]};\n" in text and "(c[0*4 +: 4] & b)" in text
    with pytest.raises(YosysError):
        prove(text.replace("c[1*4+2]", "c[0*4+2]"), given, tmp_path)


@pytest.mark.parametrize(
    ("place", "read"),
    [
        ("{ 1'h0, sel[2:1] }", "c[{1'h0, sel[2:1]} +: 4]"),
        ("{ 3'h0, sel[2:1] }", "c[{1'h0, sel[2:1]} +: 4]"),
        ("{ sel[0], 2'h0 }", "c[{sel[0], 2'h0} +: 4]"),
        ("{ 1'h0, sel[1:0], 1'h0 }", None),  # its last place has two bits only
        ("sel", None),
    ],
)
def test_bits_at_a_computed_place_are_read_there_if_they_are_all_in_it(
    place: str, read: str | None, tmp_path: Path
) -> None:
    given = SMALL.replace("assign \\$2  = ~ a;", f"assign \\$2  = c >> {place};")
    given = given.replace("assign y = \\$5 ;", "assign y = {\\$2 , \\$2 };")
    text = tidied(given, "whole")
    assert prove(text, given, tmp_path) == 2
    assert (read or "c >>") in text


def test_a_bit_above_the_highest_one_is_zero(tmp_path: Path) -> None:
    given = SMALL.replace("wire \\$7 ;", "wire \\$7 ;\n  wire \\$10 ;").replace("\\$3 ;\n  always", "\\$10 ;\n  always")
    given = given.replace("assign \\$7  = c >> sel;", "assign \\$7  = c >> sel;\n  assign \\$10  = a >> sel;")
    text = tidied(given, "whole")
    assert prove(text, given, tmp_path) == 2
    assert "  assign q = c[sel] | ((sel < 3'h4) & a[sel[1:0]]);\n" in text
    with pytest.raises(YosysError):
        prove(text.replace("(sel < 3'h4)", "(sel < 3'h3)"), given, tmp_path)


@pytest.mark.parametrize(
    ("wire", "written"),
    [
        ("[1:0] ", "({1'h0, a[0]} + {1'h0, b[0]}) + {1'h0, sel[0]}"),
        ("", "a[0] + b[0]"),
    ],
)
def test_a_sum_without_a_carry_is_written_in_a_wider_one(
    wire: str, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = SMALL.replace("wire \\$7 ;", f"wire \\$7 ;\n  wire {wire}\\$10 ;\n  wire [2:0] \\$11 ;")
    given = given.replace(
        "assign \\$7 ", "assign \\$10  = a[0] + b[0];\n  assign \\$11  = \\$10  + sel[0];\n  assign \\$7 "
    )
    given = given.replace("assign z = \\$6 ;", "assign z = { \\$11 , \\$11 };")
    text = tidied(given, "whole")
    assert prove(text, given, tmp_path) == 2
    assert written in text
    monkeypatch.setattr(places, "complete", lambda expression, widths: True)
    if not wire:
        with pytest.raises(YosysError):
            prove(tidied(given, "whole"), given, tmp_path)


def test_what_is_short_is_written_wherever_it_is_read(tmp_path: Path) -> None:
    given = SMALL.replace("assign z = \\$6 ;", "assign z = {2'h0, \\$4 };").replace("= b;", "= \\$4  ^ b;")
    text = tidied(given, "whole")
    assert prove(text, given, tmp_path) == 2
    assert text.count("\\c.low  & b") == 3 and "\\$4" not in text


#: A net of four values that are each read elsewhere, too; with ``LOOP`` one of them depends on another one.
ELEMENTS = (
    """\
module part(a, b, y, z);
  input [7:0] a;
  wire [7:0] a;
  input [7:0] b;
  wire [7:0] b;
  output [7:0] y;
  wire [7:0] y;
  output z;
  wire z;
  wire [3:0] fits;
"""
    + "".join(
        f"  wire \\$1{place} ;\n  wire [7:0] \\$2{place} ;\n  wire [7:0] \\$3{place} ;\n"
        f"  assign \\$2{place}  = a ^ 8'h1{place};\n  assign \\$3{place}  = \\$2{place}  & b;\n"
        f"  assign \\$1{place}  = \\$3{place}  == {{ {'LOOP' if place == 2 else 'a[0]'}, a[6:0] }};\n"
        for place in range(4)
    )
    + """\
  assign fits = { \\$13 , \\$12 , \\$11 , \\$10  };
  assign y = { \\$13 , \\$12 , \\$11 , \\$10 , \\$10 , \\$12 , \\$11 , \\$13  };
  assign z = \\$11  & \\$12 ;
endmodule
"""
)


def test_values_of_a_net_that_are_too_long_to_be_repeated_are_read_as_its_bits(tmp_path: Path) -> None:
    given = ELEMENTS.replace("LOOP", "a[0]")
    text = tidied(given, "part")
    assert prove(text, given, tmp_path) == 1
    assert "  assign y = {fits, fits[0], fits[2:1], fits[3]};\n" in text and "fits[1] & fits[2];" in text
    assert "  assign fits[3] = ((a ^ 8'h13) & b) == {a[0], a[6:0]};\n" in text and "\\$" not in text
    with pytest.raises(YosysError):
        prove(text.replace("fits[1] & fits[2]", "fits[1] & fits[0]"), given, tmp_path)


def test_a_net_of_which_a_bit_depends_on_another_one_stays_in_parts(tmp_path: Path) -> None:
    given = ELEMENTS.replace("LOOP", "\\$11 ")
    text = tidied(given, "part")
    assert prove(text, given, tmp_path) == 1
    assert "fits" not in text


@pytest.mark.parametrize(
    ("comparison", "always"),
    [("a <= 4'hf", "1'h1"), ("a > 4'hf", "1'h0"), ("a >= 4'h0", "1'h1"), ("a < 4'h0", "1'h0"), ("a <= 4'he", None)],
)
def test_a_comparison_that_nothing_decides_is_a_number(comparison: str, always: str | None, tmp_path: Path) -> None:
    given = SMALL.replace("assign \\$3  = \\$2  == 4'hf;", f"assign \\$3  = {comparison};")
    text = tidied(given, "whole")
    assert prove(text, given, tmp_path) == 2
    assert f"c[sel] | {always or '(' + comparison + ')'};" in text


def test_bits_that_yosys_sets_beside_a_block_do_the_same(tmp_path: Path) -> None:
    block = "    \\$8  = held;\n"
    beside = SMALL.replace(block, "    \\$8 [2:0] = held[2:0];\n").replace(
        "      \\$8  = \\$9 ;", "      \\$8 [2:0] = \\$9 [2:0];"
    )
    beside = beside.replace("      \\$8  = 4'h0;", "      \\$8 [2:0] = 3'h0;")
    beside = beside.replace("  always @(posedge", "  always @*\n    \\$8 [3] = \\$9 [3];\n  always @(posedge", 1)
    text = tidied(beside, "whole")
    assert prove(text, beside, tmp_path) == 2
    assert "unread" not in text
    with pytest.raises(YosysError):
        prove(tidied(beside.replace("= \\$9 [3]", "= held[3]"), "whole"), beside, tmp_path)


@pytest.mark.parametrize(
    ("place", "rule", "broken"),
    [
        (places, "_place", lambda of, ref, context, outer: of.values.get(ref.name, ref)),
        (places, "sliced", lambda expression, high, low, widths: sliced(expression, high - low, 0, widths)),
        (registers, "_reset_first", lambda statements, whole: statements[:1]),
        (places, "number", lambda bits, amount: Const(bits, f"{bits}'h1")),
    ],
)
def test_a_broken_rule_is_noticed(
    place: ModuleType, rule: str, broken: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = SMALL.replace("  wire [3:0] \\$4 ;", "  wire [5:0] \\$4 ;").replace("\\$9  = \\$4 ;", "\\$9  = \\$4 [5:2];")
    given = given.replace("assign \\$4  = c[3:0] & b", "assign \\$4  = c[5:0] + b")
    assert prove(tidied(given, "whole"), given, tmp_path)
    monkeypatch.setattr(place, rule, broken)
    with pytest.raises(YosysError):
        prove(tidied(given, "whole"), given, tmp_path)


def test_a_module_that_needs_its_reset_is_not_equal_without(tmp_path: Path) -> None:
    text = tidied(SMALL, "whole").replace("sel, clk, rst, y", "sel, clk, y").replace("  input rst;\n", "", 1)
    with pytest.raises(YosysError):
        prove(text.replace("    .rst(rst),\n", "").replace("if (rst)", "if (1'h0)"), SMALL, tmp_path)


def test_what_yosys_does_not_write_stays_as_it_is() -> None:
    text = "// A memory.\nmodule memory(clk);\n  input clk;\n  reg [3:0] rows [0:3];\nendmodule\n"
    assert tidied(text, "memory") == text


@pytest.mark.check
@pytest.mark.parametrize("name", SCHEMES)
def test_every_net_is_read_and_few_names_are_numbered(name: str) -> None:
    cfg = SCHEMES[name].configuration("tiny")
    _, raw = design(SCHEMES[name], cfg)
    found = figures("".join(presented(cfg, raw, Names.of(name, True, None, None))))
    assert found.unread == 0
    # At 'tiny' the lanes of ltrf are most of its nets. docs/manifest.md has the shares at each scheme's own preset.
    assert found.numbers < found.nets / 7
