"""Paths from inputs to outputs end at registers and black boxes, and go bit by bit."""

from warpfile.synth.cones import cones

DESIGN = """\
module top(input clk, input [1:0] a, input b, input c, output [1:0] wide, output low, output kept, output data,
  output deep, output none);
  reg held;
  wire one;
  always @(posedge clk) held <= b;
  assign wide = {c, a[0]} & {2{held}};
  assign low = wide[0];
  assign kept = held;
  assign none = 1'b1;
  box memory(.clk(clk), .address(b), .data(data));
  inner part(.x(a[1]), .y(one));
  assign deep = one ^ b;
endmodule
module inner(input x, output y);
  assign y = ~x;
endmodule
module box(input clk, input address, output reg data);
  always @(posedge clk) data <= address;
endmodule
"""


def test_an_output_has_the_inputs_that_reach_it_without_a_register() -> None:
    assert cones(DESIGN, "top", ["box"]) == {
        "wide": {"a", "c"},
        "low": {"a"},
        "kept": set(),
        "data": set(),
        "deep": {"a", "b"},
        "none": set(),
    }


def test_a_register_that_becomes_a_wire_is_seen() -> None:
    found = cones(DESIGN.replace("always @(posedge clk) held <= b", "always @* held = b"), "top", ["box"])
    assert (found["kept"], found["wide"]) == ({"b"}, {"a", "b", "c"})
