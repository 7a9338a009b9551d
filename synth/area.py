"""What a scheme costs at a configuration: cells, flip-flops, storage bits, logic levels, part by part."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from warpfile import tools
from warpfile.schemes import TOP, Scheme
from warpfile.spec.config import Config
from warpfile.spec.reading import named
from warpfile.spec.structure import BOXES, CLOCK_GATE, LATCHES, WORD_BITS
from warpfile.synth import timing, yosys
from warpfile.synth.arrays import Array, read_array_prices
from warpfile.synth.built import memory_areas
from warpfile.synth.kept import KeptNetlist
from warpfile.synth.liberty import Liberty, read_liberty
from warpfile.synth.storage import StructureBits, storage
from warpfile.synth.timed import FLOW, TimedNetlist, timed_netlist
from warpfile.synth.timing import CriticalPath
from warpfile.synth.wires.flow import Surroundings, key
from warpfile.synth.wires.technology import technology

CACHE = Path("build/area")

#: Verilog is made by one thread at a time: it is all Python.
_AMARANTH = threading.Lock()

#: As many syntheses at once as there are processors: with more of them the longest one would only wait for the others.
_SLOTS = threading.BoundedSemaphore(os.cpu_count() or 1)

#: Cells by type, of each module that is counted on its own.
Counts = dict[str, dict[str, int]]


@dataclass(frozen=True)
class ModuleArea:
    """One module of the hierarchy, counted once: numbers of one instance, without the modules in it.

    ``logic_levels`` is the longest path that lies within the module.
    """

    name: str
    instances: int
    cells: int
    flip_flops: int
    area_um2: float | None
    nand2_equivalents: float
    logic_levels: int


@dataclass(frozen=True)
class AreaReport:
    """Cost of one scheme; memories are bits only, everything else is the logic around them.

    ``area_um2`` is None with the project's own library, whose unit is one NAND2. ``storage_bits`` holds
    ``flip_flops`` and ``memories``, each by module; ``structures`` holds the same bits as the papers divide them.
    ``logic_levels`` is the longest path of the whole machine. ``source`` is :func:`source` of the machine.
    """

    tool: str
    liberty: str
    cells: int
    flip_flops: int
    area_um2: float | None
    nand2_equivalents: float
    storage_bits: dict[str, dict[str, int]]
    logic_levels: int
    modules: tuple[ModuleArea, ...]
    structures: tuple[StructureBits, ...] = ()
    source: str = ""

    def to_json(self) -> dict[str, object]:
        """All fields by name; ``modules`` and ``structures`` are lists of objects."""
        lists = {"modules": self.modules, "structures": self.structures}
        return asdict(self) | {name: [asdict(row) for row in rows] for name, rows in lists.items()}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> AreaReport:
        """The report of what :meth:`to_json` gave."""
        modules = tuple(ModuleArea(**row) for row in facts["modules"])
        return cls(
            **{**facts, "modules": modules, "structures": tuple(StructureBits(**row) for row in facts["structures"])}
        )

    @property
    def memory_bits(self) -> int:
        """Bits in memories of all kinds."""
        return sum(self.storage_bits["memories"].values())


def measure(
    scheme: Scheme,
    cfg: Config,
    *,
    liberty: Path | None = None,
    cache: Path | None = CACHE,
    levels: bool = True,
    progress: Callable[[str], None] = lambda _step: None,
) -> AreaReport:
    """Synthesise ``scheme`` at ``cfg`` and count.

    ``liberty`` is a cell library, plain or gzip-compressed; without it areas are in NAND2 units only. Netlists are
    remembered in the folder ``cache`` by their text, the library and the tool (None: not at all). Without ``levels``
    logic levels are left at zero, which saves a quarter of the time. ``progress`` is called with the name of each step.
    Raises ``ValueError`` for a library that cannot be used.
    """
    library = read_liberty(liberty)
    progress("Verilog")
    verilog = _verilog(scheme, cfg)
    progress("cells and logic levels" if levels else "cells")

    def synthesise() -> dict[str, Any]:
        return asdict(yosys.synthesise(verilog, TOP, BOXES, library.text, levels=levels))

    def enough(found: Mapping[str, Any]) -> bool:
        return bool(found["levels"]) or not levels

    found = _cached(cache, yosys.MAP + yosys.LEVELS, verilog, library.text, synthesise, enough)
    made = report(found["cells"], library, cfg, found["levels"] if levels else {}, real=liberty is not None)
    return replace(made, structures=storage(scheme, cfg, verilog), source=_source(verilog, library))


def _verilog(scheme: Scheme, cfg: Config) -> str:
    with _AMARANTH:
        return scheme.verilog(cfg, probes=False)


def source(verilog: str, *, liberty: Path | None = None) -> str:
    """Hash of what decides what :func:`measure` counts: Verilog, library, tool and its scripts, those for timing too.

    ``verilog`` is that of a scheme without probes. Figures with the same hash need no synthesis to be known.
    """
    return _source(verilog, read_liberty(liberty))


def _source(verilog: str, library: Liberty) -> str:
    return _key(yosys.MAP + yosys.LEVELS + timing.TIMED, verilog, library.text)


def critical_path(scheme: Scheme, cfg: Config, liberty: Path, *, cache: Path | None = CACHE) -> CriticalPath:
    """Critical path of ``scheme`` at ``cfg`` with the cells of a library; without OpenSTA, and with clock gating, the
    reason why there is none.

    Remembered as netlists are. Raises ``ValueError`` for a library that cannot be used or has no delays.
    """
    library = read_liberty(liberty)
    if cfg.clock_gating != "none":
        return CriticalPath(None, "what is behind a clock gate is not timed")
    if not (timer := timing.timer()):
        return CriticalPath(None, tools.missing("sta"))
    verilog, access = _verilog(scheme, cfg), access_times(cfg)

    def time() -> dict[str, Any]:
        return timing.critical_path(verilog, TOP, BOXES, library, access_fo4=access).to_json()

    return CriticalPath.from_json(_cached(cache, f"{timer} {timing.TIMED} {access}", verilog, library.text, time))


def access_times(cfg: Config) -> dict[str, float] | None:
    """From the clock edge to the word that is read, in FO4 by CACTI, of each memory; None where one has no price."""
    prices = read_array_prices()
    if prices.missing(cfg):
        return None
    found = {name: prices.clock_to_output_fo4(Array.of(ram, prices.slice_bits)) for name, ram in cfg.rams.items()}
    return {name: round(access, 3) for name, access in found.items()}


def timed(
    scheme: Scheme,
    cfg: Config,
    liberty: Path,
    *,
    gates: bool = False,
    wires: bool = False,
    picture: Callable[[bytes], None] | None = None,
    keep: Callable[[KeptNetlist], None] | None = None,
    cache: Path | None = CACHE,
    progress: Callable[[str], None] = lambda _step: None,
) -> TimedNetlist:
    """The netlist of the timed flow of ``scheme`` at ``cfg``, with clock gates of the library where ``gates`` says so.

    With ``wires`` it is placed as well, and ``picture`` is given a PNG file of that. ``keep`` is given the netlist
    itself. All is remembered as netlists are, but placed again for a picture. Raises ``ValueError`` for a library that
    cannot be used, or without known wires where they are asked for, and for a machine with boxes of unknown area:
    latches and clock gates of its Verilog.
    """
    library = read_liberty(liberty)
    verilog = _verilog(scheme, cfg)
    if boxed := {LATCHES, CLOCK_GATE} & set(yosys.module_names(verilog)):
        raise ValueError(f"the timed flow has no cells for {', '.join(sorted(boxed))}")

    around, access = _surroundings(cfg, library, picture) if wires else None, access_times(cfg)
    script = f"{timing.timer()} {FLOW} {gates} {access}"
    if around:
        script += f" {key()} {sorted(around.memories_um2.items())}"
    file = (cache or CACHE) / f"{_key(script, verilog, library.text)}.netlist.json.gz"

    def work() -> dict[str, Any]:
        asked: dict[str, Any] = {"gates": gates, "access_fo4": access, "around": around, "progress": progress}
        written = {"keep": lambda netlist: netlist.write(file)} if cache else {"keep": keep} if keep else {}
        return timed_netlist(verilog, TOP, BOXES, library, **asked, **written).to_json()

    def enough(_found: object) -> bool:
        return picture is None and (keep is None or file.exists())

    found = _cached(cache, script, verilog, library.text, work, enough)
    if keep and cache:
        keep(KeptNetlist.read(file))
    return TimedNetlist.from_json(found)


def _surroundings(cfg: Config, library: Liberty, picture: Callable[[bytes], None] | None) -> Surroundings:
    facts = memory_areas(cfg.rams, library, technology(library).node_nm), cfg.lanes * WORD_BITS
    return Surroundings(*facts, picture) if picture else Surroundings(*facts)


def _cached(
    cache: Path | None,
    script: str,
    verilog: str,
    library: str,
    work: Callable[[], Any],
    enough: Callable[[Any], bool] = lambda _found: True,
) -> Any:
    """Result of ``work``, remembered under everything that it depends on; what is not ``enough`` is made again."""
    if cache is None:
        with _SLOTS:
            return work()
    path = cache / f"{_key(script, verilog, library)}.json"
    try:
        if enough(result := json.loads(path.read_text())):
            return result
    except (OSError, ValueError):
        pass
    with _SLOTS:
        result = work()
    cache.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.{id(result)}.partial")
    try:
        with named(path):
            draft.write_text(json.dumps(result))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return result


def _key(script: str, verilog: str, library: str) -> str:
    return hashlib.sha256("\0".join((yosys.version(), script, verilog, library)).encode()).hexdigest()


def report(
    counts: Counts, library: Liberty, cfg: Config, levels: Mapping[str, int], *, real: bool, top: str = TOP
) -> AreaReport:
    """Sum up the cells of each module times its instances. Cells outside the library are a bug of the flow.

    ``levels`` are logic levels by module, those of the whole design under ``""``.
    """
    instances = count_instances(counts, top)
    modules = tuple(
        _module(name, cells, instances, library, real, levels.get(name, 0)) for name, cells in counts.items()
    )
    if latches := instances.get(LATCHES):
        modules = (*modules, _box(LATCHES, latches, WORD_BITS, library, real))
    if gates := instances.get(CLOCK_GATE):
        modules = (*modules, _box(CLOCK_GATE, gates, 0, library, real))
    memories = {
        name: instances[name] * ram.bits for name, ram in cfg.rams.items() if name in instances and name != LATCHES
    }
    return AreaReport(
        tool=yosys.version(),
        liberty=f"{library.name}, NAND2 = {library.nand2_area:g}",
        cells=_total(modules, "cells"),
        flip_flops=_total(modules, "flip_flops"),
        area_um2=round(_total(modules, "area_um2"), 3) if real else None,
        nand2_equivalents=round(_total(modules, "nand2_equivalents"), 3),
        storage_bits={
            "flip_flops": {
                module.name: module.flip_flops * module.instances for module in modules if module.flip_flops
            },
            "memories": memories,
        },
        logic_levels=levels.get("", 0),
        modules=modules,
    )


def _total(modules: Iterable[ModuleArea], field: str) -> Any:
    return sum(getattr(module, field) * module.instances for module in modules)


def _module(
    name: str, cells: Mapping[str, int], instances: Mapping[str, int], library: Liberty, real: bool, levels: int
) -> ModuleArea:
    known = {kind: count for kind, count in cells.items() if kind in library.cells}
    unknown = [kind for kind in cells if kind not in library.cells and kind not in instances]
    assert not unknown, f"{name} holds cells that {library.name} does not have: {', '.join(unknown)}"
    area = sum(library.cells[kind].area * count for kind, count in known.items())
    return ModuleArea(
        name=name,
        instances=instances[name],
        cells=sum(known.values()),
        flip_flops=sum(count for kind, count in known.items() if library.cells[kind].flip_flop),
        area_um2=round(area, 3) if real else None,
        nand2_equivalents=round(area / library.nand2_area, 3),
        logic_levels=levels,
    )


def _box(name: str, instances: int, bits: int, library: Liberty, real: bool) -> ModuleArea:
    """So many latches behind one clock gate, or the gate alone; the bits stand among the flip-flops."""
    area = library.latched_area(bits)
    equivalents = round(area / library.nand2_area, 3)
    return ModuleArea(name, instances, bits + 1, bits, round(area, 3) if real else None, equivalents, 0)


def count_instances(counts: Mapping[str, Mapping[str, int]], top: str) -> dict[str, int]:
    """How often each module, and each black box, occurs in the whole design. An unused module occurs 0 times."""
    instances = dict.fromkeys(counts, 0)

    def visit(name: str, times: int) -> None:
        instances[name] = instances.get(name, 0) + times
        for kind, count in counts.get(name, {}).items():
            if kind in counts or kind in BOXES:
                visit(kind, times * count)

    visit(top, 1)
    return instances
