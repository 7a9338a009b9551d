"""Modules in SystemVerilog: types of records, fields by name, and what stays as it was."""

from __future__ import annotations

from tests.hdl.test_records import BEAT, PLACE, PLACES, Part
from warpfile.hdl.power_up import without_initial_values
from warpfile.hdl.readable import readable
from warpfile.hdl.records import Record, records
from warpfile.hdl.stamp import convert
from warpfile.hdl.systemverilog import Types, systemverilog
from warpfile.hdl.tidy import tidied

TYPES = """\
  typedef struct packed {  // of places_element in part
    logic [6:0] row;
    logic bank;
  } places_element_t;
  typedef struct packed {  // of places in part
    places_element_t e1;
    places_element_t e0;
  } places_t;
  typedef struct packed {  // of out in part
    logic [1:0] ok;
    logic [1:0][5:0] sources;
    places_t places;
    logic [2:0] warp;
  } out_t;
"""
GIVEN = """\
module part(a, at, y, z, clk);
  input [32:0] a;
  input [1:0] at;
  input clk;
  output [32:0] y;
  reg [32:0] y;
  output [7:0] z;
  reg [7:0] z;
  wire [15:0] a_places;
  wire [11:0] a_sources;
  wire [5:0] first;
  wire [3:0] some;
  reg at_start = 0;
  assign a_places = a[18:3];
  assign a_sources = a[30:19];
  assign first = a_sources[0*6 +: 6];
  assign some = a[4:1];
  always @(posedge clk) begin
    y[18:11] <= a_places[1*8 +: 8] + {2'h0, a_sources[1*6 +: 6]};
    y[2:0] <= a_places[1*8+2 +: 3];
  end
  always @* begin
    if (at_start) begin end
    z = {a[2:0], a[32], a_places[at*8 +: 4]};
    if (a == 33'ha) begin
      z = {4'ha, some};
    end
  end
  other other1 (
    .a(a_places),
    .y(first)
  );
endmodule
"""
EXPECTED = """\
module part (
  input  p::beat_t a,
  input  logic [1:0] at,
  output p::beat_t y,
  output logic [7:0] z,
  input  logic clk
);
  logic [5:0] first;
  logic [3:0] some;
  assign first = a.sources[0];
  assign some = a[4:1];
  always_ff @(posedge clk) begin
    y.places.e1 <= a.places.e1 + {2'h0, a.sources[1]};
    y.warp <= a.places.e1.row[3:1];
  end
  always_comb begin
    z = {a.warp, a.ok[1], a.places[at*8 +: 4]};
    if (a == 33'ha) begin
      z = {4'ha, some};
    end
  end
  other other1 (
    .a(a.places),
    .y(first)
  );
endmodule
"""


def test_fields_are_read_and_set_by_name() -> None:
    types = Types("p", {BEAT: "beat_t", PLACES: "places_t", PLACE: "place_t"})
    assert systemverilog(GIVEN, {"a": BEAT, "y": BEAT}, types) == EXPECTED
    assert (types.ranges, types.left, types.texts) == (7, 1, [])


def test_an_array_of_which_a_computed_place_is_read_stays_a_vector() -> None:
    given = GIVEN.replace("a_places[at*8 +: 4]", "a_sources[at*6 +: 4]")
    text = systemverilog(given, {"a": BEAT, "y": BEAT}, Types("p", {BEAT: "beat_t"}))
    assert "  logic [11:0] a_sources;\n" in text and "a_sources[at*6 +: 4]" in text
    assert "  assign a_sources = a.sources;\n" in text and "first = a_sources[0*6 +: 6];" in text


def test_structs_are_called_after_nets() -> None:
    raw, types = convert(Part, "part"), Types("p", {})
    known = records(raw)["part"]
    plain = tidied(without_initial_values(raw), "part")
    text = readable(plain, str, lambda module, text, names: systemverilog(text, known, types))
    assert "".join(types.texts) == TYPES
    assert "  input  p::places_t places,\n" in text and "  output p::out_t out,\n  output logic [2:0] w,\n" in text
    assert "  assign w = beat.warp + places.e1.row[2:0];\n" in text and "reg" not in text
    assert types.of(PLACES, "other", "part") == "places_t"
    assert types.of(PLACE, "out", "part") == "places_element_t" and types.of(Record(()), "out", "part") == "part_out_t"
