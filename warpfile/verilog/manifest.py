"""The manifest that goes with generated Verilog (``<scheme>.json``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

from warpfile.schemes import TOP, Scheme
from warpfile.spec.beat import (
    decode_fields,
    dispatch_fields,
    kernel_fields,
    launch_fields,
    missed_fields,
    result_fields,
)
from warpfile.spec.config import Config
from warpfile.spec.encoding import Field, pin, record, value_list
from warpfile.spec.probe import Probe, ProbeLayout
from warpfile.spec.structure import CLOCK_GATE
from warpfile.synth.netlist import ModuleFacts, instance_counts, read_modules
from warpfile.verilog.names import Names

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component


def manifest(
    scheme: Scheme,
    cfg: Config,
    preset: str,
    component: Component,
    verilog: str,
    names: Names,
    *,
    probes: tuple[Probe, ...],
    files: list[str],
) -> dict[str, object]:
    """All facts about one generated design; the keys are documented in ``docs/manifest.md``.

    ``verilog`` is the design as generated, before its modules get their ``names``.
    """
    modules = read_modules(verilog)
    counts = {names.module(name): count for name, count in instance_counts(modules, TOP).items() if count}
    named = [dataclasses.replace(facts, name=names.module(name)) for name, facts in modules.items()]
    used = [facts for facts in named if facts.name in counts]
    return {
        "scheme": scheme.name,
        "preset": preset,
        "version": version("warpfile"),
        "parameters": cfg.to_json(),
        "top": names.top,
        "prefix": names.prefix,
        "ports": port_table(cfg, component, probes),
        "memories": [row for facts in used for row in _memories(facts, counts[facts.name])],
        "storage_bits": _storage(used, counts),
        "clock_gate": _clock_gate(names.module(CLOCK_GATE), counts, files) if cfg.clock_gates else None,
        "probes": _probes(probes) if probes else None,
        "files": files,
    }


def port_table(cfg: Config, component: Component, probes: tuple[Probe, ...]) -> list[dict[str, object]]:
    """Ports of the top module by name, with what they mean, and the fields of packed ones (lowest bit first)."""
    from amaranth.hdl import Shape
    from amaranth.lib.wiring import In

    from warpfile.hdl.stamp import port_name

    pins = ("clk", "rst", *(["test_enable"] if cfg.clock_gates else []))
    table = [_port(cfg, name, "input", 1, probes) for name in pins]
    for path, member, _ in component.signature.flatten(component):
        direction = "input" if member.flow is In else "output"
        table.append(_port(cfg, port_name(path), direction, Shape.cast(member.shape).width, probes))
    return table


def _port(cfg: Config, name: str, direction: str, width: int, probes: tuple[Probe, ...]) -> dict[str, object]:
    meaning, encoding = pin(name)
    row: dict[str, object] = {"name": name, "direction": direction, "width": width}
    row |= {"meaning": meaning, "encoding": encoding}
    if fields := list(_fields(cfg, name, probes)):
        row["fields"] = [one.to_json() for one in fields]
    return row


def _fields(cfg: Config, name: str, probes: tuple[Probe, ...]) -> Iterator[Field]:
    """Fields of a packed port."""
    stream = name.partition("__")[0]
    records = {"launch": launch_fields, "kernel": kernel_fields, "decode": decode_fields, "missed": missed_fields}
    returned = {"dispatch": dispatch_fields, "result": result_fields}
    if name in ("decode", "missed", "launch__payload", "kernel__payload"):
        yield from record(cfg, records[stream](cfg))
    elif stream in returned and name.endswith("__payload"):
        yield from record(cfg, returned[stream](cfg), returned=True)
    elif stream == "operands":
        for slot in range(cfg.source_slots):
            yield Field(str(slot), slot * cfg.data_bits, cfg.data_bits, f"operand of source slot {slot}", "by lanes")
    elif name == "probe":
        layout = ProbeLayout(probes)
        for probe in layout:
            text = value_list(probe.values) or "bits"
            yield Field(probe.name, layout.offset[probe.name], probe.width, probe.doc, text, values=probe.values)


def _memories(facts: ModuleFacts, instances: int) -> list[dict[str, object]]:
    return [
        {
            "module": facts.name,
            "depth": memory.depth,
            "width": memory.width,
            "ports": memory.ports,
            "instances": instances,
            "bits": memory.bits * instances,
        }
        for memory in facts.memories
    ]


def _clock_gate(module: str, counts: dict[str, int], files: list[str]) -> dict[str, object]:
    """The gate that a user replaces; those in words of latches among its instances."""
    file = next(name for name in files if name.endswith("_sram.v"))
    return {"module": module, "file": file, "test_enable": "test_enable", "instances": counts[module]}


def _storage(used: list[ModuleFacts], counts: dict[str, int]) -> dict[str, object]:
    """Bits held by each structure: flip-flops and memories apart, all instances together."""
    flip_flops = {facts.name: facts.flip_flops * counts[facts.name] for facts in used if facts.flip_flops}
    memories = {
        facts.name: sum(memory.bits for memory in facts.memories) * counts[facts.name]
        for facts in used
        if facts.memories
    }
    latches = {facts.name: facts.latches * counts[facts.name] for facts in used if facts.latches}
    return {
        "flip_flops": {"total": sum(flip_flops.values()), "by_structure": flip_flops},
        **({"latches": {"total": sum(latches.values()), "by_structure": latches}} if latches else {}),
        "memories": {"total": sum(memories.values()), "by_structure": memories},
    }


def _probes(probes: tuple[Probe, ...]) -> dict[str, object]:
    layout = ProbeLayout(probes)
    fields = [
        {"name": probe.name, "offset": layout.offset[probe.name], "width": probe.width, "meaning": probe.doc}
        for probe in layout
    ]
    return {"port": "probe", "width": layout.width, "fields": fields}
