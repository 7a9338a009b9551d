"""The Verilog test harness around a generated machine.

It keeps all 1024-bit data on the simulator's side of the VPI: results are looked up by row in the file of the trace's
values, and every operand that leaves the dispatch pins is compared there with the row that the trace names. What leaves
beside the operands is compared with what was decoded.
Lanes outside a result's mask carry the inverted value, so that a lost lane write enable shows.

A client drives it across the VPI, cycle by cycle, or it reads a stream of inputs and expected observations
(``sim.stream``), drives itself and stops at the first difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import warpfile.sim.harness_text as text
from warpfile.sim.harness_pins import pin_check, pin_checker, pin_connections, pin_wires
from warpfile.sim.records import StreamFormat
from warpfile.sim.stimulus import ROW_BITS, due_fields, positions, sections, stimulus_fields
from warpfile.spec.beat import dispatch_fields, field_bits, launch_fields, result_fields
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.workload import Workload, WorkloadError

#: Module that is simulated.
MACHINE = "warpfile"
#: Bits above the probes in the observation word: a wrong operand was seen at the end of an earlier cycle.
FAULT_BITS = 1
#: Number of the operand slot in a fault that is about what leaves beside the operands.
RECORD_SLOT = 255
#: Rows of values that the harness remembers, a power of two; all others are read from the file again.
LINES = 2048
#: What seeking in Verilog reaches.
_LONGEST_FILE = 1 << 31


@dataclass(frozen=True)
class Recording:
    """A harness that drives itself from a memory of ``cycles`` input words, holds ``rows`` values, compares nothing."""

    cycles: int
    rows: int


def harness_verilog(cfg: Config, layout: ProbeLayout, extra: str = "", recording: Recording | None = None) -> str:
    """Text of the harness for a machine with probes, for any trace. ``extra`` is what a scheme adds."""
    at = positions(stimulus_fields(cfg))
    ports = [_port(cfg, at, port, recording is None) for port in range(cfg.ports)]
    ports += [_write_port(cfg, at, port) for port in range(cfg.write_ports)]
    driven = [*_frame_connections(at), *(line for port in ports for line in port.connections)]
    driven += [".test_enable(1'b0)"] if cfg.clock_gates else []
    watched, checker, connections = "", extra, driven
    if recording is None:
        watched, checker = pin_wires(cfg, layout), pin_checker(cfg, MACHINE, driven) + extra
        connections = driven + pin_connections(cfg, layout)
    return text.HARNESS.format(
        stimulus=field_bits(stimulus_fields(cfg)),
        observed=layout.width + FAULT_BITS - 1,
        probe_top=layout.width - 1,
        payload_top=cfg.payload_bits - 1,
        lane_top=cfg.lanes - 1,
        data_top=cfg.data_bits - 1,
        rows=_rows(cfg, recording),
        wires="\n".join([*(line for port in ports for line in port.wires), watched]),
        source=_recorded(recording) if recording else _driven(cfg, layout),
        checks="".join(port.checks for port in ports) + (pin_check() if watched else ""),
        read="" if recording else _read(cfg, layout),
        results="".join(port.results for port in ports),
        connections="".join(f",\n    {line}" for line in connections),
        extra=checker,
        machine=MACHINE,
    )


def _rows(cfg: Config, recording: Recording | None) -> str:
    line = cfg.data_bits + ROW_BITS
    if recording:
        return text.ROWS_IN_MEMORY.format(line_top=line - 1, last_row=max(recording.rows, 1) - 1)
    return text.ROWS_IN_FILE.format(line_top=line - 1, bytes=line // 8, last_line=LINES - 1, index=_index_top())


def _index_top() -> int:
    return LINES.bit_length() - 2


def _recorded(recording: Recording) -> str:
    return text.RECORDED.format(last=recording.cycles - 1)


def _driven(cfg: Config, layout: ProbeLayout) -> str:
    form = StreamFormat(cfg, layout)
    found = sections(cfg).items()
    return text.DRIVEN.format(
        due_top=field_bits(due_fields(cfg)) - 1,
        head_top=8 * form.head_size - 1,
        want_top=layout.width - 1,
        registers="".join(text.SECTION_REGISTER.format(name=name, top=8 * part.size - 1) for name, part in found),
    )


def _read(cfg: Config, layout: ProbeLayout) -> str:
    form, (ready, ports) = StreamFormat(cfg, layout), positions(stimulus_fields(cfg))["ready"]
    parts = [
        text.SECTION.format(
            number=number,
            name=name,
            size=part.size,
            word=part.word,
            top=part.low + part.width,
            low=part.low,
            width_top=part.width - 1,
        )
        for number, (name, part) in enumerate(sections(cfg).items())
    ]
    return text.READ.format(
        ready=f"{ready + ports - 1}:{ready}",
        head_ready=f"{form.ready_at + ports - 1}:{form.ready_at}",
        head_size=form.head_size,
        end=form.end_at,
        want=f"{form.want_at + layout.width - 1}:{form.want_at}",
        sections="".join(parts),
    )


@dataclass(frozen=True)
class _Port:
    """Harness text of one execution port, or of one write-back port."""

    wires: list[str]
    connections: list[str]
    checks: str = ""
    results: str = ""


def _offset(fields: Sequence[tuple[str, int]], wanted: str) -> int:
    """Lowest bit of a field of a record."""
    return field_bits(fields[: [name for name, _ in fields].index(wanted)])


def input_bits(cfg: Config, name: str, field: str | None = None) -> str:
    """Range of the input word that carries a name of ``stimulus_fields``, or one field of its record."""
    low, width = positions(stimulus_fields(cfg))[name]
    if field is not None:
        fields = launch_fields(cfg) if name == "launch" else result_fields(cfg)
        low, width = low + _offset(fields, field), dict(fields)[field]
    return f"{low + width - 1}:{low}" if width > 1 else str(low)


def _slice(position: tuple[int, int]) -> str:
    offset, width = position
    return f"inputs[{offset + width - 1}:{offset}]"


def _frame_connections(at: dict[str, tuple[int, int]]) -> list[str]:
    pins = {"kernel": "kernel__payload", "kernel_valid": "kernel__valid"}
    optional = ("kernel", "kernel_valid", "operand", "operand_valid", "missed", "missed_valid")
    return [
        f".launch__payload({_slice(at['launch'])})",
        f".launch__valid(inputs[{at['launch_valid'][0]}])",
        f".decode({_slice(at['decode'])})",
        f".decode_valid(inputs[{at['decode_valid'][0]}])",
        *(f".{pins.get(name, name)}({_slice(at[name])})" for name in optional if name in at),
    ]


def _port(cfg: Config, at: dict[str, tuple[int, int]], port: int, compares: bool) -> _Port:
    fields, due = dispatch_fields(cfg), positions(due_fields(cfg))
    payload, mask = _offset(fields, "payload"), _offset(fields, "mask")
    (record, bits), (rows, _) = due[f"record{port}"], due[f"rows{port}"]
    names = {
        "port": port,
        "lanes": cfg.lanes,
        "lane_top": cfg.lanes - 1,
        "data": cfg.data_bits,
        "data_top": cfg.data_bits - 1,
        "slots": cfg.source_slots,
        "ready": at["ready"][0] + port,
    }
    return _Port(
        wires=[
            f"  wire dispatch_valid{port};",
            f"  wire [{bits - 1}:0] dispatch{port};",
            f"  wire [{cfg.data_bits * cfg.source_slots - 1}:0] operands{port};",
            *([] if compares else [f"  reg left{port} /*verilator public_flat_rd*/ = 0;"]),
        ],
        checks=(text.CHECK if compares else text.LEAVE).format(
            due=due[f"due_valid{port}"][0],
            record=f"{record + bits - 1}:{record}",
            mask=f"{record + mask + cfg.lanes - 1}:{record + mask}",
            rows=rows,
            payload=f"{payload + cfg.payload_bits - 1}:{payload}",
            warp_top=cfg.warp_bits - 1,
            record_slot=RECORD_SLOT,
            spread=_spread(cfg, "look", 0),
            **names,
        ),
        connections=[
            f".dispatch__{port}__valid(dispatch_valid{port})",
            f".dispatch__{port}__ready(inputs[{names['ready']}])",
            f".dispatch__{port}__payload(dispatch{port})",
            f".operands__{port}(operands{port})",
        ],
    )


def _write_port(cfg: Config, at: dict[str, tuple[int, int]], port: int) -> _Port:
    valid, value = at[f"result_valid{port}"][0], at[f"value{port}"][0]
    masked = at[f"result{port}"][0] + _offset(result_fields(cfg), "mask")
    return _Port(
        wires=[f"  reg [{cfg.data_bits - 1}:0] result_data{port} = 0;"],
        results=text.RESULT.format(
            port=port,
            valid=valid,
            value=value,
            value_top=value + ROW_BITS - 1,
            spread=_spread(cfg, "next", masked),
            data=cfg.data_bits,
            data_top=cfg.data_bits - 1,
        ),
        connections=[
            f".result__{port}__valid(inputs[{valid}])",
            f".result__{port}__payload({_slice(at[f'result{port}'])})",
            f".result_data__{port}(result_data{port})",
        ],
    )


def _spread(cfg: Config, name: str, low: int) -> str:
    """All bits of the lanes whose bit is set in a mask, which starts at bit ``low`` of a register."""
    return ", ".join(f"{{32{{{name}[{low + lane}]}}}}" for lane in reversed(range(cfg.lanes)))


def write_values(cfg: Config, workload: Workload, path: Path) -> str:
    """Write the file of the trace's values, row by row: lanes written, then lanes as the banks hold them. Returns its
    plusarg. Raises :class:`WorkloadError` for more values than the harness can seek in.
    """
    trace = workload.trace
    rows = np.empty((len(trace.values), cfg.lanes + 1), dtype=">u4")
    if rows.nbytes >= _LONGEST_FILE:
        raise WorkloadError(f"values of {trace.kernel} must have less than {_LONGEST_FILE} bytes, not {rows.nbytes}")
    rows[:, 0] = trace.written & np.uint32((1 << cfg.lanes) - 1)
    rows[:, 1:] = trace.values[:, cfg.lanes - 1 :: -1] if cfg.lanes > 1 else trace.values[:, :1]
    rows.tofile(path)
    return f"+values={path}"
