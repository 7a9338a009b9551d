"""The Verilog test harness around a generated machine.

It keeps all 1024-bit data on the simulator's side of the VPI: the trace's values are in a memory, results are looked up
there by row, and every operand that leaves the dispatch pins is compared there with the row that the trace names. What
leaves beside the operands is compared with what was decoded.
Lanes outside a result's mask carry the inverted value, so that a lost lane write enable shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warpfile.sim.stimulus import ROW_BITS, stimulus_fields
from warpfile.spec.beat import NO_VALUE, decode_fields, dispatch_fields, field_bits, launch_fields, result_fields
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.workload import Workload

#: Bits above the probes in the observation word: a wrong operand was seen at the end of an earlier cycle.
FAULT_BITS = 1

_TEMPLATE = """\
`timescale 1ns/1ps
module harness (input clk /*verilator public_flat_rw*/);
  localparam STIMULUS = {stimulus};
  localparam OBSERVED = {observed};
{source}
  reg [STIMULUS-1:0] inputs = 1;
  wire [{probe_top}:0] probe;
  reg fault /*verilator public_flat_rd*/ = 1'b0;
  reg [{payload_top}:0] fault_payload /*verilator public_flat_rd*/ = 0;
  reg [7:0] fault_warp /*verilator public_flat_rd*/ = 0;
  reg [7:0] fault_port /*verilator public_flat_rd*/ = 0;
  reg [7:0] fault_slot /*verilator public_flat_rd*/ = 0;
  reg [31:0] fault_lanes /*verilator public_flat_rd*/ = 0;
  reg [63:0] operands_checked /*verilator public_flat_rd*/ = 0;
  reg [63:0] lanes_checked /*verilator public_flat_rd*/ = 0;
  wire [OBSERVED:0] observation /*verilator public_flat_rd*/ = {{fault, probe}};
  reg [31:0] cycle = 0;

  // Values by row; written lanes by row; row + 1 (0: unchecked) by beat and slot; execution mask by beat.
  reg [{data_top}:0] values [0:{last_row}];
  reg [{lane_top}:0] written [0:{last_row}];
  reg [31:0] expected [0:{last_expected}];
  reg [{lane_top}:0] executes [0:{last_beat}];
  // What has to leave with a beat, noted when it is decoded.
  reg [{record_top}:0] sent [0:{last_beat}];
  reg [8*512-1:0] path;
  integer dump_from = -1;
  initial begin
    if ($value$plusargs("values=%s", path)) $readmemh(path, values);
    if ($value$plusargs("written=%s", path)) $readmemh(path, written);
    if ($value$plusargs("expected=%s", path)) $readmemh(path, expected);
    if ($value$plusargs("executes=%s", path)) $readmemh(path, executes);
{load}    if ($value$plusargs("dump_from=%d", dump_from)) ;
    if ($value$plusargs("wave=%s", path)) $dumpfile(path);
  end

{wires}
  integer lane, slot;
  reg [31:0] row;
  reg [{lane_top}:0] differs;
  reg [{lane_top}:0] look;
  always @(posedge clk) begin
    inputs <= next;
    if (!inputs[0]) cycle <= cycle + 1;
    if (!inputs[0] && inputs[{decoded}]) sent[inputs[{decoded_payload}]] <= {{{decoded_record}}};
    if (!inputs[0] && dump_from >= 0 && cycle == dump_from) $dumpvars(0, harness);
{registers}
    if (!inputs[0]) begin
{checks}
    end
  end

  warpfile dut (
    .clk(clk),
    .rst(inputs[0]),
    .probe(probe){connections}
  );
{extra}endmodule
"""

_DRIVEN = """\
  reg [STIMULUS-1:0] next /*verilator public_flat_rw*/ = 1;"""

#: Inputs that were recorded earlier, one word per cycle: the simulation needs nobody to drive it.
_REPLAYED = """\
  reg [STIMULUS-1:0] replay [0:{last}];
  reg [31:0] position = 0;
  wire [STIMULUS-1:0] next = replay[position];
  always @(posedge clk) position <= position + 1;"""

_RESULT = """\
    if (next[{valid}]) begin
      row = next[{value_top}:{value}];
      result_data{port} <= (row == 0) ? {{{data}{{1'b0}}}} : values[row - 1];
      for (lane = 0; lane < {lanes}; lane = lane + 1)
        if (row != 0 && !next[{mask} + lane]) result_data{port}[lane*32 +: 32] <= ~values[row - 1][lane*32 +: 32];
    end
"""

#: Number of the operand slot in a fault that is about what leaves beside the operands.
RECORD_SLOT = 255

_CHECK = """\
      if (dispatch_valid{port} && inputs[{ready}] && !fault
          && dispatch{port} !== sent[dispatch{port}[{payload_top}:{payload}]]) begin
        fault <= 1'b1;
        fault_payload <= dispatch{port}[{payload_top}:{payload}];
        fault_warp <= dispatch{port}[{warp_top}:0];
        fault_port <= {port};
        fault_slot <= {record_slot};
        fault_lanes <= 0;
      end
      if (dispatch_valid{port} && inputs[{ready}])
        for (slot = 0; slot < {slots}; slot = slot + 1) begin
          row = expected[dispatch{port}[{payload_top}:{payload}] * {slots} + slot];
          if (row != 0) begin
            look = executes[dispatch{port}[{payload_top}:{payload}]] & written[row - 1];
            differs = 0;
            for (lane = 0; lane < {lanes}; lane = lane + 1)
              differs[lane] = look[lane]
                && operands{port}[slot*{data} + lane*32 +: 32] !== values[row - 1][lane*32 +: 32];
            operands_checked = operands_checked + 1;
            for (lane = 0; lane < {lanes}; lane = lane + 1) lanes_checked = lanes_checked + look[lane];
            if (differs != 0 && !fault) begin
              fault <= 1'b1;
              fault_payload <= dispatch{port}[{payload_top}:{payload}];
              fault_warp <= dispatch{port}[{warp_top}:0];
              fault_port <= {port};
              fault_slot <= slot;
              fault_lanes <= differs;
            end
          end
        end
"""


def harness_verilog(cfg: Config, layout: ProbeLayout, rows: int, beats: int, replay: int = 0, extra: str = "") -> str:
    """Text of the harness for a machine with probes; its memories hold ``rows`` values and ``beats`` beats.

    With ``replay`` it drives itself from a memory of so many input words and compares nothing. ``extra`` is what a
    scheme adds.
    """
    at = _positions(cfg)
    ports = [_port(cfg, at, port) for port in range(cfg.ports)]
    connections = [*_frame_connections(at), *(line for port in ports for line in port.connections)]
    return _TEMPLATE.format(
        stimulus=sum(width for _, width in at.values()),
        load='    if ($value$plusargs("replay=%s", path)) $readmemh(path, replay);\n' if replay else "",
        source=_REPLAYED.format(last=replay - 1) if replay else _DRIVEN,
        observed=layout.width + FAULT_BITS - 1,
        probe_top=layout.width - 1,
        payload_top=cfg.payload_bits - 1,
        data_top=cfg.data_bits - 1,
        lane_top=cfg.lanes - 1,
        last_row=rows - 1,
        last_expected=beats * cfg.source_slots - 1,
        last_beat=beats - 1,
        extra=extra,
        record_top=field_bits(dispatch_fields(cfg)) - 1,
        **_decoded(cfg, at),
        wires="\n".join(line for port in ports for line in port.wires),
        registers="".join(port.registers for port in ports),
        checks="" if replay else "".join(port.checks for port in ports),
        connections="".join(f",\n    {text}" for text in connections),
    )


@dataclass(frozen=True)
class _Port:
    """Harness text of one execution port and its write-back port."""

    wires: list[str]
    registers: str
    checks: str
    connections: list[str]


def _positions(cfg: Config) -> dict[str, tuple[int, int]]:
    """Offset and width of every field of the input word."""
    positions, offset = {}, 0
    for name, width in stimulus_fields(cfg):
        positions[name] = (offset, width)
        offset += width
    return positions


def _offset(fields: Sequence[tuple[str, int]], wanted: str) -> int:
    """Lowest bit of a field of a record."""
    return field_bits(fields[: [name for name, _ in fields].index(wanted)])


def input_bits(cfg: Config, name: str, field: str | None = None) -> str:
    """Range of the input word that carries a name of ``stimulus_fields``, or one field of its record."""
    low, width = _positions(cfg)[name]
    if field is not None:
        fields = launch_fields(cfg) if name == "launch" else result_fields(cfg)
        low, width = low + _offset(fields, field), dict(fields)[field]
    return f"{low + width - 1}:{low}" if width > 1 else str(low)


def _decoded(cfg: Config, at: dict[str, tuple[int, int]]) -> dict[str, object]:
    """Places of the decoded beat in the input word: its valid bit, its payload, and all that leaves at dispatch."""
    fields, low = decode_fields(cfg), at["decode"][0]

    def bits(name: str, width: int) -> str:
        start = low + _offset(fields, name)
        return f"{start + width - 1}:{start}"

    record = [f"inputs[{bits(name, width)}]" for name, width in dispatch_fields(cfg)]
    return {
        "decoded": at["decode_valid"][0],
        "decoded_payload": bits("payload", cfg.payload_bits),
        "decoded_record": ", ".join(reversed(record)),
    }


def _slice(position: tuple[int, int]) -> str:
    offset, width = position
    return f"inputs[{offset + width - 1}:{offset}]"


def _frame_connections(at: dict[str, tuple[int, int]]) -> list[str]:
    pins = {"kernel": "kernel__payload", "kernel_valid": "kernel__valid"}
    optional = ("kernel", "kernel_valid", "operand", "operand_valid")
    return [
        f".launch__payload({_slice(at['launch'])})",
        f".launch__valid(inputs[{at['launch_valid'][0]}])",
        f".decode({_slice(at['decode'])})",
        f".decode_valid(inputs[{at['decode_valid'][0]}])",
        *(f".{pins.get(name, name)}({_slice(at[name])})" for name in optional if name in at),
    ]


def _port(cfg: Config, at: dict[str, tuple[int, int]], port: int) -> _Port:
    payload = _offset(dispatch_fields(cfg), "payload")
    top, value = payload + cfg.payload_bits - 1, at[f"value{port}"][0]
    mask = at[f"result{port}"][0] + _offset(result_fields(cfg), "mask")
    names = {
        "port": port,
        "lanes": cfg.lanes,
        "data": cfg.data_bits,
        "slots": cfg.source_slots,
        "warp_top": cfg.warp_bits - 1,
        "valid": at[f"result_valid{port}"][0],
        "ready": at["ready"][0] + port,
        "record_slot": RECORD_SLOT,
    }
    return _Port(
        wires=[
            f"  wire dispatch_valid{port};",
            f"  wire [{field_bits(dispatch_fields(cfg)) - 1}:0] dispatch{port};",
            f"  wire [{cfg.data_bits * cfg.source_slots - 1}:0] operands{port};",
            f"  reg [{cfg.data_bits - 1}:0] result_data{port} = 0;",
        ],
        registers=_RESULT.format(value=value, value_top=value + ROW_BITS - 1, mask=mask, **names),
        checks=_CHECK.format(payload=payload, payload_top=top, **names),
        connections=_port_connections(port, names, _slice(at[f"result{port}"])),
    )


def _port_connections(port: int, names: dict[str, int], result: str) -> list[str]:
    return [
        f".dispatch__{port}__valid(dispatch_valid{port})",
        f".dispatch__{port}__ready(inputs[{names['ready']}])",
        f".dispatch__{port}__payload(dispatch{port})",
        f".operands__{port}(operands{port})",
        f".result__{port}__valid(inputs[{names['valid']}])",
        f".result__{port}__payload({result})",
        f".result_data__{port}(result_data{port})",
    ]


def write_memories(cfg: Config, workload: Workload, directory: Path) -> dict[str, Path]:
    """Write the harness's memory files; returns them by plusarg name."""
    trace, mask = workload.trace, (1 << cfg.lanes) - 1
    files = {name: directory / f"{name}.hex" for name in ("values", "written", "expected", "executes")}
    words = np.ascontiguousarray(trace.values[:, cfg.lanes - 1 :: -1] if cfg.lanes > 1 else trace.values[:, :1])
    digits = words.astype(">u4").tobytes().hex()
    width = cfg.lanes * 8
    files["values"].write_text("\n".join(digits[at : at + width] for at in range(0, len(digits), width)) + "\n")
    files["written"].write_text("".join(f"{lanes & mask:x}\n" for lanes in trace.written.tolist()))
    rows = []
    for beat in workload.beats:
        known = [row + 1 if row != NO_VALUE else 0 for row in beat.expected]
        rows += known + [0] * (cfg.source_slots - len(known))
    files["expected"].write_text("".join(f"{row:x}\n" for row in rows))
    files["executes"].write_text("".join(f"{beat.mask & mask:x}\n" for beat in workload.beats))
    return files
