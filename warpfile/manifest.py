"""The manifest that goes with generated Verilog (``<scheme>.json``)."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from warpfile.schemes import TOP, Scheme
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.synth.netlist import ModuleFacts, instance_counts, read_modules

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component


def manifest(
    scheme: Scheme, cfg: Config, preset: str, component: Component, verilog: str, *, probes: bool, files: list[str]
) -> dict[str, object]:
    """All facts about one generated design; the keys are documented in ``docs/manifest.md``."""
    modules = read_modules(verilog)
    counts = {name: count for name, count in instance_counts(modules, TOP).items() if count}
    used = [modules[name] for name in modules if name in counts]
    return {
        "scheme": scheme.name,
        "preset": preset,
        "version": version("warpfile"),
        "parameters": cfg.to_json(),
        "top": TOP,
        "ports": port_table(component),
        "memories": [row for facts in used for row in _memories(facts, counts[facts.name])],
        "storage_bits": _storage(used, counts),
        "probes": _probes(scheme, cfg) if probes else None,
        "files": files,
    }


def port_table(component: Component) -> list[dict[str, object]]:
    """Ports of the top module by name, with the fields of packed ones (lowest bit first)."""
    from amaranth.hdl import Shape
    from amaranth.lib import data
    from amaranth.lib.wiring import In

    from warpfile.hdl.stamp import port_name

    table: list[dict[str, object]] = [{"name": name, "direction": "input", "width": 1} for name in ("clk", "rst")]
    for path, member, _ in component.signature.flatten(component):
        direction = "input" if member.flow is In else "output"
        row: dict[str, object] = {
            "name": port_name(path),
            "direction": direction,
            "width": Shape.cast(member.shape).width,
        }
        if isinstance(member.shape, data.Layout):
            row["fields"] = [
                {"name": str(name), "offset": field.offset, "width": field.width} for name, field in member.shape
            ]
        table.append(row)
    return table


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


def _storage(used: list[ModuleFacts], counts: dict[str, int]) -> dict[str, object]:
    """Bits held by each structure: flip-flops and memories apart, all instances together."""
    flip_flops = {facts.name: facts.flip_flops * counts[facts.name] for facts in used if facts.flip_flops}
    memories = {
        facts.name: sum(memory.bits for memory in facts.memories) * counts[facts.name]
        for facts in used
        if facts.memories
    }
    return {
        "flip_flops": {"total": sum(flip_flops.values()), "by_structure": flip_flops},
        "memories": {"total": sum(memories.values()), "by_structure": memories},
    }


def _probes(scheme: Scheme, cfg: Config) -> dict[str, object]:
    layout = ProbeLayout(scheme.probes(cfg))
    fields = [
        {"name": probe.name, "offset": layout.offset[probe.name], "width": probe.width, "meaning": probe.doc}
        for probe in layout
    ]
    return {"port": "probe", "width": layout.width, "fields": fields}
