"""Verilog and manifest of a scheme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpfile.manifest import manifest
from warpfile.names import Names
from warpfile.outputs import json_text, write_files
from warpfile.schemes import TOP, Scheme
from warpfile.spec.config import Config

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

#: Leaves the model of the SRAM out of its file, for a wrapper of that name around a macro.
WITHOUT_MODEL = "WARPFILE_NO_SRAM_MODEL"


def _silent(module: str) -> None:
    return None


@dataclass(frozen=True)
class Generated:
    """What :func:`generate` wrote: the machine, the SRAM of its banks, a checker of its pins, the manifest."""

    verilog: Path
    sram: Path
    checks: Path
    manifest: Path
    facts: dict[str, object]  #: the manifest's contents

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files."""
        return self.verilog, self.sram, self.checks, self.manifest


def generate(
    scheme: Scheme,
    cfg: Config,
    preset_name: str,
    directory: Path,
    *,
    probes: bool = False,
    names: Names | None = None,
    progress: Callable[[str], None] = _silent,
) -> Generated:
    """Write ``<scheme>.v``, ``<scheme>_sram.v``, ``<scheme>_checks.v`` and ``<scheme>.json`` into ``directory``, all or
    none.

    The same configuration gives the same bytes. ``probes`` adds the observation port. ``progress`` is called with the
    name of each module before it is converted. Raises ``OSError`` where the directory cannot be written.
    """
    names = names or Names.of(scheme.name, True, None, None)
    directory.mkdir(parents=True, exist_ok=True)
    component, raw = design(scheme, cfg, probes=probes, progress=progress)
    machine, sram = presented(cfg, raw, names)
    heading = _heading(scheme, preset_name, cfg)
    texts = {
        "": heading + machine,
        "_sram": f"{heading}`ifndef {WITHOUT_MODEL}\n{sram}`endif\n",
        "_checks": heading + scheme.checks(cfg, names.top),
    }
    paths = {directory / f"{scheme.name}{suffix}.v": text for suffix, text in texts.items()}
    described = directory / f"{scheme.name}.json"
    files = [path.name for path in (*paths, described)]
    facts = manifest(scheme, cfg, preset_name, component, raw, names, probes=probes, files=files)
    write_files({**paths, described: json_text(facts)})
    return Generated(*paths, described, facts)


def design(
    scheme: Scheme, cfg: Config, *, probes: bool, progress: Callable[[str], None] = _silent
) -> tuple[Component, str]:
    """The top component and its Verilog, in which every part has the ports that it declares."""
    from warpfile.hdl.stamp import convert

    made: list[Component] = []

    def build() -> Component:
        made.append(scheme.rtl(cfg, probes))
        return made[0]

    text = convert(build, TOP, progress, apart=True)
    return made[0], text


def presented(cfg: Config, raw: str, names: Names) -> tuple[str, str]:
    """The machine without its SRAM, and the SRAM, in names for people."""
    from warpfile.hdl.readable import readable
    from warpfile.hdl.rf.ram import ram_verilog

    sram = ram_verilog(cfg)
    machine, found, rest = raw.partition(sram)
    assert found, "the machine has banks"
    text = readable(machine + rest + sram, names.module)
    at = text.index("// One register bank:")
    return text[:at].rstrip() + "\n", text[at:]


def _heading(scheme: Scheme, preset: str, cfg: Config) -> str:
    """Comment that says what the file is; without date or path, so that equal inputs give equal bytes."""
    lines = [f"warpfile: scheme {scheme.name}, preset {preset}", scheme.summary]
    lines += [f"  {name} = {value}" for name, value in cfg.to_json().items()]
    return "".join(f"// {line}\n" for line in lines) + "\n"
