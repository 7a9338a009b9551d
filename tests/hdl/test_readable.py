"""Names for people: nothing but names and line breaks changes, and no two things get one name."""

import re

import pytest

from warpfile.generate import design
from warpfile.hdl.readable import WIDTH, identifiers, numbered_share, readable
from warpfile.names import Names
from warpfile.schemes import SCHEMES

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


def test_modules_that_would_have_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="modules must have different names, not whole twice"):
        readable(AWKWARD, lambda name: "whole")
