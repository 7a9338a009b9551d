"""Names for people: nothing but names and line breaks changes, and no two things get one name."""

import re

import pytest

from warpfile.hdl.readable import WIDTH, identifiers, numbered_share, readable
from warpfile.schemes import SCHEMES
from warpfile.verilog.generate import design
from warpfile.verilog.names import Names

NAMES = Names("part_", "whole")
AWKWARD = """\
module \\warpfile.part (\\release , a, y);
  wire \\$1 ;
  wire \\$2 ;
  input \\release ;
  wire \\release ;
  wire \\release$3 ;
  input a;
  wire a;
  wire \\a.b ;
  wire a_b;
  wire \\a$4[1].c ;
  output y;
  wire y;
  assign \\$1  = a & \\release ;
  assign \\$2  = \\$1  | a_b;
  assign y = ~ \\$2 ;
endmodule

module warpfile(y);
  output y;
  wire y;
  \\warpfile.part  part (
    .\\release (y),
    .a(y),
    .y(y)
  );
endmodule
"""


def tokens(text: str) -> list[list[str]]:
    """Of every module its names and all else, in turn."""
    return [identifiers(body) for body in re.split(r"^endmodule$", text, flags=re.MULTILINE)]


@pytest.mark.check
@pytest.mark.parametrize("name", SCHEMES)
def test_only_names_change_and_no_two_become_one(name: str) -> None:
    scheme = SCHEMES[name]
    cfg = scheme.configuration("tiny")
    _, raw = design(scheme, cfg, probes=scheme.probes(cfg))
    text = readable(raw, NAMES.module)
    for ours, theirs in zip(tokens(text), tokens(raw), strict=True):
        pairs = set(zip(ours, theirs, strict=True))
        assert len(pairs) == len({new for new, _ in pairs}) == len({old for _, old in pairs})
        changed = {old for new, old in pairs if new != old}
        modules = {f"\\{one}" if "." in one else one for one in re.findall(r"^module \\?([\w.]+)", raw, re.MULTILINE)}
        assert all(one.startswith("\\") or one in modules for one in changed)


@pytest.mark.check
@pytest.mark.parametrize("name", SCHEMES)
def test_names_are_plain_and_lines_fit(name: str) -> None:
    scheme = SCHEMES[name]
    _, raw = design(scheme, scheme.configuration("tiny"))
    text = readable(raw, NAMES.module)
    assert "\\" not in text and "$" not in text
    before, wires = numbered_share(raw)
    assert before > wires / 4 and numbered_share(text) == (0, wires)
    longest = max(text.splitlines(), key=len)
    assert len(longest) <= WIDTH + 10


def test_names_do_not_meet_and_words_of_the_language_stay_apart() -> None:
    text = readable(AWKWARD, NAMES.module)
    assert "module part_part (release_, a, y);" in text and "  part_part  part (\n    .release_(y)," in text
    assert "wire a_b_2;" in text and "wire release_2;" in text and "wire a_1_c;" in text
    assert "  assign y_and = a & release_;\n  assign y_or = y_and | a_b;\n  assign y = ~ y_or;\n" in text


def test_a_name_does_not_depend_on_what_else_a_module_holds() -> None:
    more = AWKWARD.replace("\\$2 ", "\\$7 ").replace("\\$1 ", "\\$5 ")
    more = more.replace("  input a;", "  wire \\$1 ;\n  wire other;\n  assign other = ! \\$1 ;\n  input a;")
    lines = readable(AWKWARD, NAMES.module).splitlines()
    assert set(lines) < set(readable(more, NAMES.module).splitlines())


def test_nets_of_one_name_have_what_they_feed_or_read_before_it() -> None:
    text = """\
module part(a, b, y, z);
  input [3:0] a;
  input [3:0] b;
  output [3:0] y;
  output z;
  wire [1:0] carry;
  wire [1:0] \\carry$1 ;
  wire [1:0] \\carry$2 ;
  wire \\$1 ;
  wire \\$2 ;
  assign carry = a[1:0];
  assign \\carry$1  = carry & a[1*2 +: 2];
  assign \\carry$2  = carry & b[1:0];
  assign y[0*2 +: 2] = \\carry$1 ;
  assign y[1*2 +: 2] = \\carry$2 ;
  assign \\$1  = a[3] & b[0];
  assign \\$2  = b[2] & b[3];
  assign z = \\$1  ? \\$2  : \\$1 ;
endmodule
"""
    lines = readable(text, NAMES.module).splitlines()
    assert "  assign y_0_carry = carry & a[1*2 +: 2];" in lines and "  assign y[1*2 +: 2] = y_1_carry;" in lines
    assert "  assign z = a_3_z_and ? b_2_z_and : a_3_z_and;" in lines, "both feed z"


def test_nets_that_feed_and_read_the_same_are_numbered() -> None:
    twice = AWKWARD.replace("assign y = ~ \\$2 ;", "assign \\$3  = a & \\release ;\n  assign y = \\$1  & \\$3 ;")
    text = readable(twice.replace("  wire \\$2 ;", "  wire \\$2 ;\n  wire \\$3 ;"), NAMES.module)
    assert "  assign y = y_and & y_and_2;\n" in text


def test_modules_that_would_have_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="modules must have different names, not whole twice"):
        readable(AWKWARD, lambda name: "whole")
