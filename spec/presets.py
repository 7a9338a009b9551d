"""Named configurations, each value with its source. ``python -m spec.presets`` prints ``docs/presets.md``.

A preset describes the machine *around* a scheme: what the baseline is given when it is compared with that scheme.
Parameters of the schemes themselves (entries, windows, thresholds) are not part of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from spec.config import Config

#: Fields that say how long something takes; every preset names a source for each of them.
LATENCIES = (
    "bank_cycles",
    "branch_delay",
    "alu_latency",
    "alu_interval",
    "sfu_latency",
    "sfu_interval",
    "shared_latency",
    "hit_latency",
    "miss_latency",
    "miss_interval",
    "uniform_latency",
)


@dataclass(frozen=True)
class Preset:
    """A configuration under a name.

    ``sources`` says, per field of ``config``, where its value comes from: at least for every field that differs from
    the default of :class:`spec.config.Config` and for every field in ``LATENCIES``. ``sm_factor`` is the number of
    such domains in the SM of the paper, so that storage can be given per SM. Raises ``ValueError`` where a source is
    missing or names no field.
    """

    name: str
    title: str
    config: Config
    sources: Mapping[str, str] = field(repr=False)
    sm_factor: int = 1

    def __post_init__(self) -> None:
        known = {spec.name for spec in dataclasses.fields(Config)}
        if unknown := sorted(set(self.sources) - known):
            raise ValueError(f"{self.name}: sources must name configuration fields, not {', '.join(unknown)}")
        needed = set(changed_fields(self.config)) | set(LATENCIES)
        if missing := sorted(needed - set(self.sources)):
            raise ValueError(f"{self.name}: every chosen value must have a source, missing for {', '.join(missing)}")


def changed_fields(config: Config) -> tuple[str, ...]:
    """Fields whose value is not the default, in the order of their declaration."""
    specs = dataclasses.fields(Config)
    return tuple(spec.name for spec in specs if getattr(config, spec.name) != spec.default)


# Sources that several presets share. "1.11" is the table of the simulator's tested configurations.
_SCHEDULER_SHARE = "a quarter of the SM, which has four schedulers"
_PORT_CYCLES = "one access per cycle"
_DRAM = "Gebhart 2011, Tab. 4: DRAM 400 cycles; no other source gives the time of a miss"
_DRAM_RATE = "Gebhart 2011, Tab. 4: 32 B per cycle and SM, so 4 cycles per 128-byte line"
_DRAM_SHARE = _DRAM_RATE + "; a quarter of that for a quarter of the SM"
_UNIFORM = "alu_latency + 3, the way of an ALU instruction from issue when no bank conflict holds it up"
_NO_BRANCH = "GPGPU-Sim from Volta on: BRA has latency 4; nothing is published for older machines"
_WHOLE_SM = "the paper's SM; its structures are shared by all warps"
_SIX_BITS = "6-bit names; every bundled kernel fits (the widest names R0 to R61)"
_FERMI_SFU = "Gebhart 2011, Tab. 4, a Fermi-like SM: SFU 20 cycles; the simulator's GTX480 file gives none"
_FERMI_SFU_RATE = "Gebhart 2011, section 4: 8 SFU operations per cycle, 32 lanes"


def _titan_x(interval: str) -> dict[str, str]:
    """Sources of the latencies of GPGPU-Sim's Pascal, with the preset's own reason for ``miss_interval``."""
    return {
        "bank_cycles": _PORT_CYCLES,
        "branch_delay": _NO_BRANCH,
        "alu_latency": "GPGPU-Sim SM6_TITANX: int and sp 4",
        "alu_interval": "GPGPU-Sim SM6_TITANX: int and sp 1",
        "sfu_latency": "GPGPU-Sim SM6_TITANX: sfu 20",
        "sfu_interval": "GPGPU-Sim SM6_TITANX: sfu 4",
        "shared_latency": "GPGPU-Sim SM6_TITANX: shared memory 24",
        "hit_latency": "GPGPU-Sim SM6_TITANX: L1 82",
        "miss_latency": _DRAM,
        "miss_interval": interval,
        "uniform_latency": _UNIFORM,
    }


_TITAN_X: dict[str, int] = {
    "branch_delay": 4,
    "alu_latency": 4,
    "alu_interval": 1,
    "sfu_latency": 20,
    "sfu_interval": 4,
    "shared_latency": 24,
    "hit_latency": 82,
    "miss_latency": 400,
    "uniform_latency": 7,
}

_TURING = Preset(
    name="turing",
    title="One sub-core of a Turing SM (Malekeh: RTX 2060)",
    sm_factor=4,
    config=Config(
        warps=8,
        ctas=4,
        shared_bytes=16384,
        register_names=256,
        banks=2,
        rows=256,
        bank_ports="1R1W",
        bank_skew="warp",
        collectors=2,
        source_slots=8,
        collect="one",
        bank_arbitration="oldest",
        dispatch_arbitration="oldest",
        scheduler="gto",
        branch_delay=4,
        alu_latency=2,
        alu_interval=2,
        sfu_latency=21,
        sfu_interval=8,
        shared_latency=30,
        hit_latency=32,
        miss_latency=400,
        miss_interval=16,
        cache_lines=128,
        uniform_latency=5,
    ),
    sources={
        "warps": f"Malekeh, Tab. 1: 32 warps per SM; {_SCHEDULER_SHARE}",
        "ctas": f"CUDA, compute capability 7.5: 16 CTAs per SM; {_SCHEDULER_SHARE}",
        "shared_bytes": f"Malekeh, Tab. 1: L1 and shared memory 64 KB; {_SCHEDULER_SHARE}",
        "register_names": "SASS names R0 to R254 with 8 bits",
        "banks": "GPGPU-Sim SM75_RTX2060: 8 banks per SM, 2 per sub-core",
        "rows": "Malekeh, Tab. 1: 256 KB per SM = 2 banks x 256 warp registers per sub-core",
        "bank_ports": "Malekeh, section 2: single- or dual-ported banks; hardware has a read and a write port",
        "bank_skew": "GPGPU-Sim: bank from register plus warp number",
        "collectors": "Malekeh, section 9.4: 128 B of tags and state per SM = 8 units = 2 per sub-core",
        "source_slots": "Malekeh, sections 2 and 3.2: up to 7 sources; 8 entries per unit",
        "collect": "Malekeh, section 3: one fill port S per unit",
        "bank_arbitration": "open in the paper; the older unit first, so that a baseline unit waits as a caching one",
        "dispatch_arbitration": "open in the paper; oldest first per execution unit",
        "bank_cycles": _PORT_CYCLES,
        "branch_delay": _NO_BRANCH,
        "alu_latency": "GPGPU-Sim SM75_RTX2060: int and sp 2",
        "alu_interval": "GPGPU-Sim SM75_RTX2060: int and sp 2 (16 lanes per sub-core)",
        "sfu_latency": "GPGPU-Sim SM75_RTX2060: sfu 21",
        "sfu_interval": "GPGPU-Sim SM75_RTX2060: sfu 8",
        "shared_latency": "GPGPU-Sim SM75_RTX2060: shared memory 30",
        "hit_latency": "GPGPU-Sim SM75_RTX2060: L1 32",
        "miss_latency": _DRAM,
        "miss_interval": _DRAM_SHARE,
        "cache_lines": f"Malekeh, Tab. 1: L1 and shared memory 64 KB; {_SCHEDULER_SHARE}",
        "uniform_latency": _UNIFORM,
    },
)

_PASCAL = Preset(
    name="pascal",
    title="One of four schedulers of a Pascal SM (BOW: TITAN X)",
    sm_factor=4,
    config=Config(
        **_TITAN_X,
        warps=8,
        ctas=4,
        shared_bytes=24576,
        register_names=256,
        banks=8,
        rows=64,
        bank_ports="1RW",
        bank_skew="warp",
        collectors=8,
        source_slots=3,
        collect="lowest",
        bank_arbitration="round_robin",
        dispatch_arbitration="round_robin",
        scheduler="gto",
        miss_interval=16,
        cache_lines=96,
    ),
    sources={
        **_titan_x(_DRAM_SHARE),
        "warps": f"BOW, Tab. 3.2: 32 warps per SM; {_SCHEDULER_SHARE}",
        "ctas": f"BOW, Tab. 3.2: 16 CTAs per SM; {_SCHEDULER_SHARE}",
        "shared_bytes": f"BOW, Tab. 3.2: 96 KB; {_SCHEDULER_SHARE}",
        "banks": f"BOW, section 3.2: 32 banks per SM; {_SCHEDULER_SHARE}",
        "rows": "BOW, section 3.2: 256 KB in 32 banks = 64 warp registers each",
        "bank_ports": "BOW, section 3.2: single-ported banks",
        "collectors": "BOW, section 3.2: 32 units per SM, one per warp",
        "source_slots": "BOW, section 3.2: three entries of 128 B per unit; wider instructions take several beats",
        "scheduler": "BOW, Tab. 3.2: greedy then oldest; its second issue per cycle is left out",
        "cache_lines": f"BOW, Tab. 3.2: L1 48 KB; {_SCHEDULER_SHARE}",
    },
)

_ISCA2011 = Preset(
    name="isca2011",
    title="The SM of Gebhart 2011 (register file cache, two-level scheduler)",
    config=Config(
        warps=32,
        ctas=8,
        shared_bytes=32768,
        register_names=256,
        banks=4,
        rows=256,
        bank_ports="1R1W",
        bank_skew="warp",
        collectors=4,
        source_slots=3,
        collect="all",
        bank_arbitration="oldest",
        dispatch_arbitration="oldest",
        scheduler="gto",
        branch_delay=3,
        alu_latency=8,
        alu_interval=1,
        sfu_latency=20,
        sfu_interval=4,
        shared_latency=20,
        hit_latency=400,
        miss_latency=400,
        miss_interval=4,
        cache_lines=0,
        uniform_latency=11,
    ),
    sources={
        "warps": "section 2.1: 1024 threads per SM",
        "shared_bytes": "Tab. 4: 32 KB",
        "banks": "section 2.1: 32 banks of 128 bits = 4 banks in each of 8 clusters that act in step",
        "rows": "section 2.1: 256 entries per bank",
        "bank_ports": "section 2.1: one read and one write port per bank",
        "collectors": (
            "section 3.1, Fig. 3: three operand-fetch stages hold one instruction each; one unit more, because a unit"
            " that dispatches can be taken again only in the next cycle (three would issue in 3 of 4 cycles)"
        ),
        "source_slots": "section 2.1: up to three sources per instruction; wider ones take several beats",
        "collect": "section 3.1: operands of one instruction are fetched from different banks at once",
        "bank_arbitration": "in-order pipeline: the oldest instruction first",
        "dispatch_arbitration": "in-order pipeline: the oldest instruction first",
        "scheduler": "section 5.2: greedy",
        "bank_cycles": "section 2.1: pipelined banks, one access per cycle and port",
        "branch_delay": "a warp issues again 5 cycles after a branch, the depth of the pipeline before the tag check",
        "alu_latency": "Tab. 4: 8 cycles (use 4 where the paper's issue-to-issue distance of 8 is to be reproduced)",
        "alu_interval": "Tab. 4: full rate",
        "sfu_latency": "Tab. 4: 20 cycles",
        "sfu_interval": "Tab. 4: 8 operations per cycle, 32 lanes",
        "shared_latency": "Tab. 4: 20 cycles",
        "hit_latency": "section 4: no caches; also where a trace lacks addresses",
        "miss_latency": "Tab. 4: DRAM and texture 400 cycles",
        "miss_interval": "Tab. 4: 32 B per cycle, so 4 cycles per 128-byte line",
        "cache_lines": "section 4: no caches",
        "uniform_latency": _UNIFORM,
    },
)

_FERMI = Preset(
    name="fermi",
    title="A Fermi SM with one scheduler (CORF)",
    config=Config(
        warps=48,
        ctas=8,
        shared_bytes=49152,
        register_names=64,
        banks=4,
        rows=256,
        bank_ports="1RW",
        bank_skew="warp",
        collectors=4,
        source_slots=3,
        collect="lowest",
        bank_arbitration="round_robin",
        dispatch_arbitration="round_robin",
        scheduler="gto",
        branch_delay=4,
        alu_latency=4,
        alu_interval=1,
        sfu_latency=20,
        sfu_interval=4,
        shared_latency=26,
        hit_latency=35,
        miss_latency=400,
        miss_interval=4,
        cache_lines=128,
        uniform_latency=7,
    ),
    sources={
        "warps": "CORF, section 2.6: 48 warps per SM",
        "ctas": "GPGPU-Sim SM2_GTX480: 8 CTAs per SM",
        "shared_bytes": "GPGPU-Sim SM2_GTX480: 48 KB",
        "register_names": f"CORF, section 2.6: 63 registers per warp, {_SIX_BITS}",
        "banks": "CORF, section 2.2: four banks",
        "rows": "CORF, section 2.2: 128 KB in four banks",
        "bank_ports": "CORF, section 2.2: single-ported banks",
        "bank_skew": "GPGPU-Sim: bank from register plus warp number",
        "collectors": "CORF, Fig. 2.1: CU0 to CU3",
        "source_slots": "CORF, Fig. 2.1: up to three sources",
        "scheduler": "RegMutex, section 4.4: greedy then oldest (CORF, section 2.7: two-level; hardly differs here)",
        "bank_cycles": _PORT_CYCLES,
        "branch_delay": _NO_BRANCH,
        "alu_latency": "GPGPU-Sim SM2_GTX480: integer and float add 4",
        "alu_interval": "GPGPU-Sim SM2_GTX480: integer and float add 1",
        "sfu_latency": _FERMI_SFU,
        "sfu_interval": _FERMI_SFU_RATE,
        "shared_latency": "GPGPU-Sim SM2_GTX480: shared memory 26",
        "hit_latency": "GPGPU-Sim SM2_GTX480: L1 35",
        "miss_latency": _DRAM,
        "miss_interval": _DRAM_RATE,
        "cache_lines": "GPGPU-Sim SM2_GTX480: L1 16 KB, 4 ways, 128-byte lines",
        "uniform_latency": _UNIFORM,
    },
)

_FERMI_LINEAR = Preset(
    name="fermi_linear",
    title="The Fermi SM with registers counted through, without warp skew (RegMutex)",
    config=_FERMI.config.replace(bank_skew="none"),
    sources={
        **_FERMI.sources,
        "bank_skew": "RegMutex, Fig. 4.6a: place = register + count x warp; adding the warp would let warps collide",
        "warps": "RegMutex, section 4.3.2: 48 warps per SM",
        "rows": "RegMutex, section 4.4: 128 KB",
        "scheduler": "RegMutex, section 4.4: greedy then oldest",
    },
)

_KEPLER = Preset(
    name="kepler",
    title="One of four schedulers of a Kepler SM (Pilot: GTX 780)",
    sm_factor=4,
    config=Config(
        warps=16,
        ctas=4,
        shared_bytes=12288,
        register_names=64,
        banks=4,
        rows=128,
        bank_ports="1RW",
        bank_skew="none",
        collectors=6,
        source_slots=3,
        collect="all",
        bank_arbitration="oldest",
        dispatch_arbitration="oldest",
        scheduler="gto",
        branch_delay=4,
        alu_latency=4,
        alu_interval=1,
        sfu_latency=200,
        sfu_interval=4,
        shared_latency=24,
        hit_latency=82,
        miss_latency=400,
        miss_interval=16,
        cache_lines=32,
        uniform_latency=7,
    ),
    sources={
        "warps": f"Pilot, Tab. II: 64 warps per SM; {_SCHEDULER_SHARE}",
        "ctas": f"Pilot, section II: at most 16 CTAs per SM; {_SCHEDULER_SHARE}",
        "shared_bytes": f"GPGPU-Sim SM3_KEPLER_TITAN: 48 KB; {_SCHEDULER_SHARE}",
        "register_names": f"Pilot, section III-B: at most 63 registers, {_SIX_BITS}",
        "banks": "Pilot, Tab. II: 24 banks of 256 KB; 16 instead, since 2048 does not divide by 24; a quarter of them",
        "rows": "Pilot, Tab. II: 256 KB in 16 banks",
        "bank_ports": "Pilot, section IV: one request is active per bank",
        "bank_skew": "open in the paper; linear places, as the partitioned file needs them",
        "collectors": f"Pilot, Tab. II: 24 units; {_SCHEDULER_SHARE}",
        "collect": "open in the paper; a slow and a fast read of one unit may return together",
        "bank_arbitration": "open in the paper; oldest issue first",
        "dispatch_arbitration": "open in the paper; oldest first, as at the banks",
        "scheduler": "Pilot, section V: greedy then oldest; the second issue per cycle is left out",
        "bank_cycles": "Pilot, section V-B: 1 cycle at nominal voltage",
        "branch_delay": _NO_BRANCH,
        "alu_latency": "GPGPU-Sim SM3_KEPLER_TITAN: int and sp 4",
        "alu_interval": "GPGPU-Sim SM3_KEPLER_TITAN: int and sp 1",
        "sfu_latency": "GPGPU-Sim SM3_KEPLER_TITAN: sfu 200 (includes division)",
        "sfu_interval": "GPGPU-Sim SM3_KEPLER_TITAN: 2 units of interval 2 for four schedulers",
        "shared_latency": "GPGPU-Sim SM3_KEPLER_TITAN: shared memory 24",
        "hit_latency": "GPGPU-Sim SM3_KEPLER_TITAN: L1 82",
        "miss_latency": _DRAM,
        "miss_interval": _DRAM_SHARE,
        "cache_lines": f"GPGPU-Sim SM3_KEPLER_TITAN: L1 16 KB; {_SCHEDULER_SHARE}",
        "uniform_latency": _UNIFORM,
    },
)

_MAXWELL = Preset(
    name="maxwell",
    title="A Maxwell-like SM with one scheduler (LTRF, design point 1)",
    config=Config(
        **_TITAN_X,
        warps=64,
        ctas=32,
        shared_bytes=65536,
        register_names=256,
        banks=16,
        rows=128,
        bank_ports="1RW",
        bank_cycles=3,
        bank_skew="row",
        collectors=16,
        source_slots=3,
        collect="one",
        bank_arbitration="oldest",
        dispatch_arbitration="oldest",
        scheduler="lrr",
        miss_interval=4,
        cache_lines=128,
    ),
    sources={
        **_titan_x(_DRAM_RATE),
        "warps": "LTRF, Tab. 3: 64 warps per SM",
        "ctas": "CUDA, compute capability 5.x: 32 CTAs per SM",
        "register_names": "LTRF, section 3.2: at most 256 registers",
        "banks": "LTRF, Tab. 2, design point 1: 16 banks",
        "rows": "LTRF, Tab. 2: banks of 16 KB",
        "bank_ports": "open in the paper; one access at a time",
        "bank_cycles": "open in the paper, which gives multiples only; 3 cycles for design point 1, not pipelined",
        "bank_skew": "open in the paper; adding the row spreads equal registers of different warps",
        "collectors": "LTRF, Fig. 5: 16 units",
        "collect": "open in the paper; one operand per unit and cycle",
        "bank_arbitration": "open in the paper; the oldest unit first",
        "dispatch_arbitration": "open in the paper; the oldest unit first",
        "scheduler": "LTRF, section 4.1: fair, for example round robin",
        "cache_lines": "LTRF, Tab. 3: L1 16 KB, 4 ways, 128-byte lines",
    },
)

_PASCAL_LARF = Preset(
    name="pascal_larf",
    title="A Pascal SM with one scheduler (LARF: GP102)",
    config=Config(
        **_TITAN_X,
        warps=64,
        ctas=32,
        shared_bytes=98304,
        register_names=64,
        banks=4,
        rows=256,
        bank_ports="1RW",
        bank_skew="none",
        collectors=16,
        source_slots=3,
        collect="lowest",
        bank_arbitration="round_robin",
        dispatch_arbitration="oldest",
        scheduler="lrr",
        miss_interval=4,
        cache_lines=384,
    ),
    sources={
        **_titan_x(_DRAM_RATE),
        "warps": "CUDA, compute capability 6.1: 64 warps per SM",
        "ctas": "CUDA, compute capability 6.1: 32 CTAs per SM",
        "shared_bytes": "LARF, section 5.6: 96 KB",
        "register_names": f"GPGPU-Sim's PTX registers of the paper: 63, {_SIX_BITS}",
        "banks": "LARF, Fig. 5.5: four banks in each of 8 clusters that act in step",
        "rows": "LARF, section 5.6: 128 KB (section 5.6.4 gives 11-bit places, 256 KB: then 512 rows)",
        "bank_skew": "LARF: a renamed place has its bank in its low bits, so the baseline counts through as well",
        "collectors": "LARF, section 5.6.4: 16 units per SM",
        "dispatch_arbitration": "open in the paper; the memory port takes the oldest, which fixes the order of sharing",
        "scheduler": "LARF, section 5.4: loose round robin is what the paper builds on",
        "cache_lines": "BOW, Tab. 3.2, the same chip: L1 48 KB",
    },
)

_TINY = Preset(
    name="tiny",
    title="Small and awkward on purpose: odd counts, two-source beats, little room anywhere",
    config=Config(
        lanes=4,
        warps=5,
        ctas=3,
        shared_bytes=8192,
        register_names=64,
        banks=2,
        rows=128,
        bank_ports="1RW",
        bank_skew="warp",
        collectors=3,
        source_slots=2,
        collect="lowest",
        branch_delay=1,
        alu_latency=2,
        alu_interval=1,
        sfu_latency=5,
        sfu_interval=2,
        shared_latency=4,
        hit_latency=6,
        miss_latency=20,
        miss_interval=3,
        cache_lines=8,
        uniform_latency=5,
        result_queue=2,
    ),
    sources={
        "lanes": "fast simulation; control does not depend on the number of lanes",
        "warps": "no power of two",
        "ctas": "fewer than warps, no power of two",
        "shared_bytes": "enough for the bundled kernels",
        "register_names": "enough for the bundled kernels",
        "rows": "four warps of the widest bundled kernel",
        "collectors": "no power of two",
        "source_slots": "a multiply-add takes two beats",
        **dict.fromkeys(LATENCIES, "short, so that units run full and results meet"),
        "uniform_latency": _UNIFORM,
        "cache_lines": "two sets, so that lines are replaced",
    },
)

_PEER = Preset(
    name="peer",
    title="The operand stage of Vortex that was measured for comparison",
    config=Config(
        warps=8,
        ctas=8,
        register_names=64,
        banks=4,
        rows=128,
        bank_ports="1R1W",
        bank_skew="none",
        collectors=2,
        source_slots=3,
        collect="all",
        scheduler="lrr",
        ports=1,
        payload_bits=75,
    ),
    sources={
        "banks": "Vortex: four banks per collector",
        "register_names": "Vortex: 32 integer and 32 floating-point registers",
        "rows": "Vortex: two units with a private 4 x 64 rows each; here one file of the same size",
        "bank_ports": "Vortex: one read and one write port per bank",
        "bank_skew": "Vortex: bank = register mod banks",
        "collectors": "Vortex: two collectors for 8 warps",
        "collect": "Vortex: every bank answers in the same cycle",
        "scheduler": "Vortex: round robin between warps",
        "ports": "Vortex: one output to dispatch",
        "payload_bits": "Vortex: about 91 bits beside the operands, less what a unit here holds itself",
        "bank_cycles": _PORT_CYCLES,
        **dict.fromkeys(
            [name for name in LATENCIES if name != "bank_cycles"],
            "default; only area and critical path are compared here",
        ),
    },
)

#: All presets by name.
PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            _TURING,
            _PASCAL,
            _ISCA2011,
            _FERMI,
            _FERMI_LINEAR,
            _KEPLER,
            _MAXWELL,
            _PASCAL_LARF,
            _TINY,
            _PEER,
        )
    }
)

_INTRODUCTION = """# Presets

<!-- Written by `python -m spec.presets`; change `spec/presets.py` instead. -->

Each preset is the machine around one published scheme, and every scheme is compared with the baseline at the values of
its own preset. One preset is one scheduling domain: its own warps, one scheduler with one issue per cycle, its own
banks, collector units and execution ports. *Domains per SM* says how many of them make the SM of the paper. Where
a source gives a number for a whole SM, the domain gets its share. All presets are built with 32 lanes
except `tiny`; any of them can be built narrower (`--set lanes=4`), because control does not depend on lanes.
"""


def markdown() -> str:
    """The page ``docs/presets.md``."""
    parts = [_INTRODUCTION, *_overview(), ""]
    for preset in PRESETS.values():
        parts += _section(preset)
    return "\n".join(parts)


def _overview() -> Iterator[str]:
    names = list(PRESETS)
    yield "## All values\n"
    yield _row("field", *(f"`{name}`" for name in names))
    yield _row(*["---"] * (len(names) + 1))
    yield _row("domains per SM", *(PRESETS[name].sm_factor for name in names))
    for spec in dataclasses.fields(Config):
        yield _row(f"`{spec.name}`", *(getattr(PRESETS[name].config, spec.name) for name in names))


def _section(preset: Preset) -> Iterator[str]:
    yield f"## {preset.name}\n"
    yield f"{preset.title}. Domains per SM: {preset.sm_factor}. Warp registers: {_capacity(preset.config)}.\n"
    yield _row("field", "value", "source")
    yield _row("---", "---", "---")
    for spec in dataclasses.fields(Config):
        if spec.name in preset.sources:
            yield _row(f"`{spec.name}`", getattr(preset.config, spec.name), preset.sources[spec.name])
    yield ""


def _capacity(config: Config) -> int:
    return config.banks * config.rows


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


if __name__ == "__main__":
    print(markdown(), end="")
