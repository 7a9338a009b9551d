"""Verilog and manifest of a scheme, with what goes with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpfile.integrations.vortex import adapter
from warpfile.output.files import json_text, write_files
from warpfile.schemes import TOP, Scheme
from warpfile.spec.config import Config
from warpfile.spec.structure import CLOCK_GATE
from warpfile.verilog.flows import constraints, core, file_list, lint_rules
from warpfile.verilog.manifest import manifest
from warpfile.verilog.names import Names
from warpfile.verilog.systemverilog import instance, package, pin_types

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

    from warpfile.hdl.systemverilog import Types
    from warpfile.spec.probe import Probe

#: Leaves the model of the SRAM out of its file, for a wrapper of that name around a macro.
WITHOUT_MODEL = "WARPFILE_NO_SRAM_MODEL"
#: Leaves the model of the clock gate out of that file, for a wrapper of that name around a cell of a library.
WITHOUT_GATE = "WARPFILE_NO_CLOCK_GATE_MODEL"


def _silent(module: str) -> None:
    return None


#: Ends of the names of the files, by what they are.
FILES = {
    "machine": ".v",
    "sram": "_sram.v",
    "checks": "_checks.v",
    "package": "_pkg.sv",
    "instance": "_inst.svh",
    "list": ".f",
    "lint": ".vlt",
    "constraints": ".sdc",
    "core": ".core",
    "manifest": ".json",
}
#: Languages of the machine: Verilog-2005, or SystemVerilog with records as packed structs.
LANGUAGES = ("verilog", "sv")
#: Hosts that there is an adapter for.
HOSTS = ("vortex",)


@dataclass(frozen=True)
class Generated:
    """What :func:`generate` wrote: a file for each of :data:`FILES`, by what it is, and the ``adapter`` to a host."""

    paths: Mapping[str, Path]
    facts: dict[str, Any]  #: the manifest's contents


def generate(
    scheme: Scheme,
    cfg: Config,
    preset_name: str,
    directory: Path,
    *,
    probes: tuple[Probe, ...] = (),
    names: Names | None = None,
    host: str | None = None,
    language: str = LANGUAGES[0],
    progress: Callable[[str], None] = _silent,
) -> Generated:
    """Write the :data:`FILES` of a scheme, called after it, into ``directory``, all or none.

    The same configuration gives the same bytes. ``probes`` of the scheme get an observation port. ``host``: one of
    :data:`HOSTS`, whose adapter goes with them. ``language``: one of :data:`LANGUAGES`. ``progress`` is called with the
    name of each module before it is converted. Raises ``OSError`` where the directory cannot be written, and
    ``ValueError`` for a machine that does not fit the host.
    """
    names = names or Names.of(scheme.name, True, None, None)
    directory.mkdir(parents=True, exist_ok=True)
    parts: dict[str, Component] = {}
    component, raw = design(scheme, cfg, probes=probes, progress=progress, parts=parts)
    typed = language == "sv"
    ends = FILES | {"machine": ".sv"} if typed else FILES
    files = {what: f"{scheme.name}{end}" for what, end in ends.items()} | ({"adapter": adapter.FILE} if host else {})
    facts = manifest(scheme, cfg, preset_name, component, raw, names, probes=probes, files=[*files.values()])
    heading = _heading(scheme, preset_name, cfg)
    types = pin_types(facts, names) if typed else None
    machine, sram = presented(cfg, raw, names, types)
    machine = _explained(scheme, cfg, machine, names, parts, facts)
    texts = {
        "machine": heading + machine,
        "sram": heading + sram,
        "checks": heading + scheme.checks(cfg, names.top),
        "package": heading + package(facts, names, types.texts if types else ()),
        "instance": heading + instance(facts, names),
        "list": file_list([files[what] for what in (("package",) if typed else ()) + ("machine", "sram")]),
        "lint": lint_rules([files[what] for what in ("machine", "sram", "checks")], files["package"]),
        "constraints": constraints(facts),
        "core": core(facts, scheme.summary, files, typed=typed),
        "manifest": json_text(facts),
    }
    if host:
        texts["adapter"] = heading + adapter.adapter(facts, names.top)
    paths = {what: directory / name for what, name in files.items()}
    write_files({path: texts[what] for what, path in paths.items()})
    return Generated(paths, facts)


def design(
    scheme: Scheme,
    cfg: Config,
    *,
    probes: tuple[Probe, ...] = (),
    progress: Callable[[str], None] = _silent,
    parts: dict[str, Component] | None = None,
) -> tuple[Component, str]:
    """The top component and its Verilog, in which every part has the ports that it declares; ``parts`` gets the
    components by the names of their modules."""
    from warpfile.hdl.stamp import convert

    made: list[Component] = []

    def build() -> Component:
        made.append(scheme.rtl(cfg, probes))
        return made[0]

    text = convert(build, TOP, progress, apart=True, parts=parts)
    return made[0], text


def presented(cfg: Config, raw: str, names: Names, types: Types | None = None) -> tuple[str, str]:
    """The machine without its SRAMs and clock gate, and these, tidied, in names for people and without initial values.

    With ``types`` the machine is SystemVerilog, and those it needs are added. A macro leaves out the SRAMs, another one
    the clock gate.
    """
    from warpfile.hdl.power_up import without_initial_values
    from warpfile.hdl.readable import readable
    from warpfile.hdl.records import records
    from warpfile.hdl.systemverilog import systemverilog
    from warpfile.hdl.tidy import tidied

    known = records(raw) if types else {}

    def rewritten(module: str, text: str, plain: Mapping[str, str]) -> str:
        if types is None or module in (*cfg.rams, CLOCK_GATE):
            return text
        return systemverilog(text, {plain.get(net, net): one for net, one in known[module].items()}, types)

    gates = [CLOCK_GATE] if cfg.clock_gates else []
    models = [_model(raw, name) for name in (*cfg.rams, *gates)]
    machine = raw
    for model in models:
        machine = machine.replace(model, "")
    text = readable(tidied(without_initial_values(machine) + "\n".join(models), TOP), names.module, rewritten)
    at = text.index(models[0].partition("\n")[0])
    end = text.index(models[-1].partition("\n")[0]) if gates else len(text)
    apart = _unless(WITHOUT_MODEL, text[at:end].rstrip() + "\n")
    return text[:at].rstrip() + "\n", apart + (_unless(WITHOUT_GATE, text[end:]) if gates else "")


def _unless(macro: str, text: str) -> str:
    return f"`ifndef {macro}\n{text}`endif\n"


def _model(raw: str, name: str) -> str:
    """The module of an SRAM with the comment above it."""
    start = raw.index(f"\nmodule {name} (") + 1
    while raw.startswith("//", above := raw.rfind("\n", 0, start - 1) + 1):
        start = above
    end = "endmodule\n"
    return raw[start : raw.index(end, start) + len(end)]


def _explained(
    scheme: Scheme, cfg: Config, text: str, names: Names, parts: Mapping[str, Component], facts: Mapping[str, Any]
) -> str:
    """The machine with comments: of its pins those of the manifest, of its parts those of their docstrings."""
    from warpfile.hdl.remarks import Remarks, commented, remarks

    known = {probe.name: probe.doc for probe in scheme.probes(cfg)}
    told = {names.module(name): remarks(part, known) for name, part in parts.items()}
    told[names.top] = Remarks(scheme.summary, {port["name"]: port["meaning"] for port in facts["ports"]})
    return commented(text, told.get)


def _heading(scheme: Scheme, preset: str, cfg: Config) -> str:
    """Comment that identifies the file; without date or path, so that equal inputs give equal bytes."""
    lines = [f"warpfile: scheme {scheme.name}, preset {preset}", scheme.summary]
    lines += [f"  {name} = {value}" for name, value in cfg.to_json().items()]
    return "".join(f"// {line}\n" for line in lines) + "\n"
