"""Verilog and manifest of a scheme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warpfile.manifest import manifest
from warpfile.outputs import json_text, write_files
from warpfile.schemes import TOP, Scheme
from warpfile.spec.config import Config

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component


def _silent(module: str) -> None:
    return None


@dataclass(frozen=True)
class Generated:
    """What :func:`generate` wrote."""

    verilog: Path
    manifest: Path
    facts: dict[str, object]  #: the manifest's contents


def generate(
    scheme: Scheme,
    cfg: Config,
    preset_name: str,
    directory: Path,
    *,
    probes: bool = False,
    progress: Callable[[str], None] = _silent,
) -> Generated:
    """Write ``<scheme>.v`` and ``<scheme>.json`` into ``directory``, both or none.

    The same configuration gives the same bytes. ``probes`` adds the observation port. ``progress`` is called with the
    name of each module before it is converted. Raises ``OSError`` where the directory cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    component, verilog = design(scheme, cfg, probes=probes, progress=progress)
    verilog = _heading(scheme, preset_name, cfg) + verilog
    paths = directory / f"{scheme.name}.v", directory / f"{scheme.name}.json"
    files = [path.name for path in paths]
    facts = manifest(scheme, cfg, preset_name, component, verilog, probes=probes, files=files)
    write_files({paths[0]: verilog, paths[1]: json_text(facts)})
    return Generated(*paths, facts)


def design(
    scheme: Scheme, cfg: Config, *, probes: bool, progress: Callable[[str], None] = _silent
) -> tuple[Component, str]:
    """The top component and its Verilog."""
    from warpfile.hdl.stamp import convert

    made: list[Component] = []

    def build() -> Component:
        made.append(scheme.rtl(cfg, probes))
        return made[0]

    text = convert(build, TOP, progress)
    return made[0], text


def _heading(scheme: Scheme, preset: str, cfg: Config) -> str:
    """Comment that says what the file is; without date or path, so that equal inputs give equal bytes."""
    lines = [f"warpfile: scheme {scheme.name}, preset {preset}", scheme.summary]
    lines += [f"  {name} = {value}" for name, value in cfg.to_json().items()]
    return "".join(f"// {line}\n" for line in lines) + "\n"
