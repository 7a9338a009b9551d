"""Named configurations, each value with its source. ``python -m warpfile.pages presets`` writes ``docs/presets.md``.

A preset describes the machine *around* a scheme: what the baseline is given when it is compared with that scheme.
Parameters of the schemes themselves (entries, windows, thresholds) are not part of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from warpfile.spec.config import Config

#: Fields that say how long something takes; every preset names a source for each of them.
LATENCIES = (
    "bank_cycles",
    "branch_delay",
    "alu_latency",
    "alu_interval",
    "fma_latency",
    "fma_interval",
    "double_latency",
    "double_interval",
    "tensor_latency",
    "tensor_interval",
    "sfu_latency",
    "sfu_interval",
    "lsu_interval",
    "shared_latency",
    "texture_latency",
    "texture_interval",
    "hit_latency",
    "miss_latency",
    "sector_interval",
    "uniform_latency",
)

_MEMORY = ("sector_bytes", "stores", "l1_banks", "mshrs", "mshr_merges")

#: Fields in which published baselines differ; every preset decides each of them, whatever the defaults are.
CHOICES = (
    "warps",
    "banks",
    "rows",
    "bank_ports",
    "bank_skew",
    "collectors",
    "source_slots",
    "collect",
    "bank_arbitration",
    "dispatch_arbitration",
    "scheduler",
    *_MEMORY,
)


@dataclass(frozen=True)
class Preset:
    """A configuration under a name.

    ``sources`` says, per field of ``config``, where its value comes from: at least for every field that differs from
    the default of :class:`spec.config.Config` and for every field in ``LATENCIES`` and ``CHOICES``. Raises
    ``ValueError`` where a source is missing or names no field.
    """

    name: str
    title: str
    config: Config
    sources: Mapping[str, str] = field(repr=False)

    def __post_init__(self) -> None:
        known = {spec.name for spec in dataclasses.fields(Config)}
        if unknown := sorted(set(self.sources) - known):
            raise ValueError(f"{self.name}: sources must name configuration fields, not {', '.join(unknown)}")
        needed = {*changed_fields(self.config), *LATENCIES, *CHOICES}
        if missing := sorted(needed - set(self.sources)):
            raise ValueError(f"{self.name}: every chosen value must have a source, missing for {', '.join(missing)}")


def changed_fields(config: Config) -> tuple[str, ...]:
    """Fields whose value is not the default, in the order of their declaration."""
    specs = dataclasses.fields(Config)
    return tuple(spec.name for spec in specs if getattr(config, spec.name) != spec.default)


# Sources that several presets share. GPGPU-Sim's values are those of its tested configurations, by their names there.
_SCHEDULER_SHARE = "a quarter of the SM, which has four schedulers"
_DEALING = "GPGPU-Sim: a warp belongs to the scheduler of its number mod 4"
_HALF_SHARE = "a half of the SM, which has two schedulers"
_TWO_DOMAINS = (
    "two schedulers per SM; GPGPU-Sim: a warp belongs to the scheduler of its number mod 2. Over one file they take as"
    " long (docs/assumptions.md)"
)
_PORT_CYCLES = "one access per cycle"
_MISS = "GPGPU-Sim {}: {} cycles of the L2 and {} of DRAM behind it"
_MISS_TURING = (290, _MISS.format("SM75_RTX2060", 194, 96))
_DRAM_RATE = "Gebhart 2011, Tab. 4: 32 B per cycle and SM"
_DRAM_LINES = f"{_DRAM_RATE}, so 4 cycles per line of 128 bytes"
_A_QUARTER = "; a quarter of that for a quarter of the SM"
_A_HALF = "; a half of that for a half of the SM"
_SECTORS = "NVIDIA, Nsight Compute: a line is four sectors of 32 bytes"
_PASCAL_SECTORS = "CUDA, Pascal tuning guide: accesses move 32 bytes, whether L1 caches them or not"
_NO_SECTORS = "CUDA, compute capabilities 2.x and 3.x: L1 takes lines of 128 bytes"
_WAY = "GPGPU-Sim {}; that is {} from an addition's issue to a dependent issue, {} of them to dispatch and back here"
_LSU_32 = "32 load-store units per SM, an access per cycle"
_LSU_TURING = (
    "NVIDIA, Turing whitepaper: 16 load-store units per SM, an access in two cycles; a quarter of that for a quarter of"
    " the SM (so measured on RTX 2060 and 2070: 8 with four sub-cores busy)"
)
_UNIFORM = "alu_latency + 3, the way of an ALU instruction from issue when no bank conflict holds it up"
_NO_BRANCH = "GPGPU-Sim from Volta on: BRA has latency 4; nothing is published for older machines"
_LOAD_TO_LOAD = "cycles from a load to one of its address, 4 of them to dispatch and back"
_SHARED_TURING = f"measured on an RTX 2070: 23 {_LOAD_TO_LOAD} (GPGPU-Sim SM75_RTX2060: 30 in the unit alone)"
_SIX_BITS = "6-bit names; every bundled kernel but wide_accumulate fits"
_KEPLER_SFU = (
    "GPGPU-Sim SM6_TITANX: sfu 20; the Kepler file has 200 for a whole division, which machine code spells out"
)
_THREE = "open in the paper; three sources per instruction, wider ones take several beats"
_ROUND_ROBIN = "open in the paper; fair and cheap"
_NOT_COMPARED = "default; only area and critical path are compared here"
_FERMI_SFU = "Gebhart 2011, Tab. 4, a Fermi-like SM: SFU 20 cycles; the simulator's GTX480 file gives none"
_FERMI_SFU_RATE = "Gebhart 2011, section 4: 8 SFU operations per cycle, 32 lanes"


#: Values of a preset with their sources, by field.
_Values = dict[str, tuple[object, str]]

_UNIT: _Values = {
    "register_unit": (8, "NVIDIA, CUDA occupancy calculator: a warp is given 256 registers at a time since Kepler")
}

_SIMULATOR: _Values = {
    "retake": ("same", "GPGPU-Sim: a unit that dispatches is free for the allocation of the same cycle"),
    "port_queue": (1, "GPGPU-Sim: a register per scheduler and class of units between collector unit and execution"),
}

_TEXTURES: _Values = {
    "texture_latency": (200, "GPGPU-Sim from Volta on: TEX 200; nothing is published for the other machines"),
    "texture_interval": (4, "GPGPU-Sim from Volta on: TEX 4"),
}


def _unit(name: str, latency: int, interval: int, source: str) -> _Values:
    """Times of one class of units."""
    return {f"{name}_latency": (latency, source), f"{name}_interval": (interval, source)}


def _units(fma: int, fma_interval: int, source: str) -> _Values:
    """Times of multiply-adds, with those of doubles and matrices that machines have which have no better."""
    return {
        **_unit("fma", fma, fma_interval, source),
        **_unit("double", 20, 8, _DOUBLE),
        **_unit("tensor", 16, 16, _NO_TENSOR),
    }


_DOUBLE = "GPGPU-Sim SM6_TITANX: dp 20, one in 8 cycles"
_NO_TENSOR = "no such unit; GPGPU-Sim SM75_RTX2060, so that every kernel runs: 16, one in 16 cycles"
_SKIPPED = "loads of global memory skip the L1"
_AROUND = "L1 with global stores written through and no place for their misses"


def _misses(file: str, banks: int, entries: int, merges: int, share: int = 1, tracked: str = "sector") -> _Values:
    """What L1 keeps track of in one of GPGPU-Sim's files, for one of ``share`` domains."""
    part = f"; its share for one of {share} domains" if share > 1 else ""
    return {
        "l1_banks": (banks, f"GPGPU-Sim {file}: {banks}" if banks > 1 else f"GPGPU-Sim: 1, as {file} says nothing"),
        "mshrs": (entries // share, f"GPGPU-Sim {file}: {entries} entries of L1, each for a {tracked}{part}"),
        "mshr_merges": (merges // share, f"GPGPU-Sim {file}: {merges} accesses per entry{part}"),
    }


def _preset(name: str, title: str, values: _Values) -> Preset:
    config = Config().replace(**{key: value for key, (value, _) in values.items()})
    return Preset(name, title, config, {key: source for key, (_, source) in values.items()})


def _titan_x(share: int) -> _Values:
    """Latencies of GPGPU-Sim's Pascal, for one domain of ``share``."""
    part = _A_QUARTER if share == 4 else ""
    return {
        **_TEXTURES,
        **_SIMULATOR,
        **_misses("SM6_TITANX", 2, 256, 8, share),
        "stores": ("around", f"GPGPU-Sim SM6_TITANX: {_AROUND}"),
        "bank_cycles": (1, _PORT_CYCLES),
        "branch_delay": (4, _NO_BRANCH),
        "alu_latency": (4, "GPGPU-Sim SM6_TITANX: int and sp 4"),
        "alu_interval": (1, "GPGPU-Sim SM6_TITANX: int and sp 1"),
        **_units(4, 1, "GPGPU-Sim SM6_TITANX: int and sp 4, 1"),
        "sfu_latency": (20, "GPGPU-Sim SM6_TITANX: sfu 20"),
        "sfu_interval": (4, "GPGPU-Sim SM6_TITANX: sfu 4"),
        "lsu_interval": (share, f"NVIDIA, GP104 whitepaper: {_LSU_32}{part}"),
        "shared_latency": (24, "GPGPU-Sim SM6_TITANX: shared memory 24"),
        "hit_latency": (82, "GPGPU-Sim SM6_TITANX: L1 82"),
        "miss_latency": (220, _MISS.format("SM6_TITANX", 120, 100)),
        "sector_interval": (share, _DRAM_RATE + part),
        "sector_bytes": (32, _PASCAL_SECTORS),
        "uniform_latency": (7, _UNIFORM),
    }


def _short(**values: int) -> _Values:
    return {name: (value, "short, so that units run full and results meet") for name, value in values.items()}


_FERMI_FMA = "GPGPU-Sim SM2_GTX480: float add and multiply 4, 1 (multiply-add 5, 1); counted like alu_latency"
_FERMI_DOUBLE = _unit(
    "double",
    8,
    16,
    f"GPGPU-Sim SM2_GTX480: adds and multiply-adds of doubles 8, one in 8 cycles, in the one SFU of the SM{_A_HALF}",
)
_SHIPPED = "RegMutex, section 4.4: the shipped GTX 480 configuration, GPGPU-Sim SM2_GTX480"

_FERMI: _Values = {
    **_TEXTURES,
    **_SIMULATOR,
    **_misses("SM2_GTX480", 1, 64, 8, 2, tracked="line"),
    "stores": ("around", f"GPGPU-Sim SM2_GTX480: {_AROUND}"),
    "domains": (2, f"CORF, section 2.7: {_TWO_DOMAINS}"),
    "warps": (24, f"CORF, section 2.6: 48 warps per SM; {_HALF_SHARE}"),
    "ctas": (8, "GPGPU-Sim SM2_GTX480: 8 CTAs per SM"),
    "shared_bytes": (49152, "GPGPU-Sim SM2_GTX480: 48 KB"),
    "register_names": (128, "every bundled kernel (R0 to R110); CORF, section 2.6, has 63 names"),
    "register_unit": (4, "RegMutex, Tab. 4.1, and GPGPU-Sim: rounded up to a multiple of 4"),
    "banks": (2, f"CORF, section 2.2: four banks; {_HALF_SHARE}"),
    "rows": (256, "CORF, section 2.2: 128 KB in four banks"),
    "bank_ports": ("1RW", "CORF, section 2.2: single-ported banks"),
    "bank_skew": ("warp", "GPGPU-Sim: bank from register plus warp number"),
    "collectors": (2, f"CORF, Fig. 2.1: CU0 to CU3; {_HALF_SHARE}"),
    "source_slots": (3, "CORF, Fig. 2.1: up to three sources"),
    "collect": ("lowest", "CORF, section 2.4: a unit receives one register per cycle; the lowest slot asks first"),
    "bank_arbitration": ("round_robin", _ROUND_ROBIN),
    "dispatch_arbitration": ("round_robin", _ROUND_ROBIN),
    "bank_cycles": (1, _PORT_CYCLES),
    "branch_delay": (4, _NO_BRANCH),
    "alu_latency": (5, _WAY.format("SM2_GTX480: integer and float add 4", 10, 5)),
    "alu_interval": (1, "GPGPU-Sim SM2_GTX480: integer and float add 1"),
    **_units(5, 1, _FERMI_FMA),
    **_FERMI_DOUBLE,
    "sfu_latency": (20, _FERMI_SFU),
    "sfu_interval": (8, _FERMI_SFU_RATE + _A_HALF),
    "lsu_interval": (4, f"NVIDIA, Fermi whitepaper: 16 load-store units per SM, an access in two cycles{_A_HALF}"),
    "shared_latency": (26, "GPGPU-Sim SM2_GTX480: shared memory 26"),
    "hit_latency": (35, "GPGPU-Sim SM2_GTX480: L1 35"),
    "miss_latency": (220, _MISS.format("SM2_GTX480", 120, 100)),
    "sector_interval": (8, _DRAM_LINES + _A_HALF),
    "sector_bytes": (128, _NO_SECTORS),
    "cache_lines": (64, f"GPGPU-Sim SM2_GTX480: L1 16 KB, 4 ways, 128-byte lines; {_HALF_SHARE}"),
    "uniform_latency": (8, _UNIFORM),
}
_COMMENTED = "GPGPU-Sim SM2_GTX480, the two-level scheduler that its file has as a comment"

_HUERTA = "Huerta et al., MICRO 2025"

_L1_TURING: _Values = {
    **_misses("SM75_RTX2060", 4, 256, 32, 4),
    "cache_lines": (64, f"GPGPU-Sim SM75_RTX2060: 32 KB, what shared memory leaves of 96 KB; {_SCHEDULER_SHARE}"),
    "cache_ways": (64, "GPGPU-Sim SM75_RTX2060: 4 sets of 64 ways in the SM"),
}


def _two_banks(interval: int, why: str, lsu: str, miss: tuple[int, str]) -> _Values:
    """What NVIDIA's sub-cores have in common since Turing; fixed latencies start once per ``interval``.

    ``miss``: time of a miss and its source.
    """
    return {
        **_TEXTURES,
        **_SIMULATOR,
        "stores": (
            "through",
            "GPGPU-Sim SM75_RTX2060 and SM86_RTX3070: L1 written through, a miss gets a place and fetches nothing",
        ),
        "domains": (4, f"{_HUERTA}, section 2: four sub-cores per SM"),
        "ctas": (16, "CUDA, compute capabilities 7.5 and 8.6: 16 CTAs per SM"),
        "buffer_depth": (3, f"{_HUERTA}, section 5.2: three entries per warp"),
        "register_names": (256, "SASS names R0 to R254 with 8 bits"),
        **_UNIT,
        "banks": (2, f"{_HUERTA}, section 5.3: two banks per sub-core"),
        "rows": (256, f"{_HUERTA}, section 5.3: 512 warp registers per sub-core"),
        "bank_ports": ("1R1W", f"{_HUERTA}, section 5.3: a read and a write port of 1024 bits"),
        "bank_skew": ("none", f"{_HUERTA}, section 5.3: the bank is the parity of the register"),
        "collectors": (2, "GPGPU-Sim SM75_RTX2060 and SM86_RTX3070: 8 units per SM, 2 per sub-core; baseline only"),
        "source_slots": (3, f"{_HUERTA}, section 5.3: three operand positions"),
        "collect": ("all", "GPGPU-Sim: a unit receives any number of operands in a cycle; baseline only"),
        "bank_arbitration": ("oldest", "as turing; baseline only"),
        "dispatch_arbitration": ("oldest", "as turing; baseline only"),
        "scheduler": ("gto", "the baseline's; the scheme has its own, which takes the youngest warp"),
        "bank_cycles": (1, _PORT_CYCLES),
        "branch_delay": (4, _NO_BRANCH),
        "alu_latency": (3, f"{_HUERTA}, section 5.3: 4 cycles from issue to a dependent issue, with forwarding"),
        "alu_interval": (interval, why),
        "ports": (6, "GPGPU-Sim SM75_RTX2060: units of every class, each with its own way in; baseline only"),
        **_units(3, interval, f"{_HUERTA}, section 5.3: as sums; {why}"),
        **_unit("double", 64, 64, "GPGPU-Sim SM75_RTX2060 and SM86_RTX3070: dp 64, one in 64 cycles"),
        "lsu_interval": (8, lsu),
        "miss_latency": miss,
        "sector_interval": (4, _DRAM_RATE + _A_QUARTER),
        "sector_bytes": (32, _SECTORS),
        "uniform_latency": (6, _UNIFORM),
    }


_AMPERE: _Values = {
    **_two_banks(
        1,
        "Huerta et al., section 5.3: units of a whole warp",
        f"{_HUERTA}, Tab. 1: a memory instruction every 8 cycles with four sub-cores busy",
        (441, _MISS.format("SM86_RTX3070", 187, 254)),
    ),
    "warps": (12, f"Huerta et al., Tab. 4: 48 warps per SM; {_SCHEDULER_SHARE}"),
    "shared_bytes": (102400, "CUDA, compute capability 8.6: 100 KB"),
    **_unit("tensor", 32, 32, "GPGPU-Sim SM86_RTX3070: tensor 32, one in 32 cycles"),
    "sfu_latency": (16, "Huerta et al.'s simulator: 8 behind 8"),
    "sfu_interval": (8, "Huerta et al.'s simulator: 8 behind 8"),
    "shared_latency": (16, "Huerta et al., Tab. 2: 24 from issue to the reader's, less the way to dispatch"),
    "hit_latency": (24, "Huerta et al., Tab. 2: 32 from issue to the reader's, less the way to dispatch"),
    "cache_lines": (56, f"CUDA, compute capability 8.6: 128 KB, less shared memory; {_SCHEDULER_SHARE}"),
    "cache_ways": (56, "GPGPU-Sim SM86_RTX3070: 4 sets in the SM"),
    **_misses("SM86_RTX3070", 4, 384, 48, 4),
}

#: What sources say of all GPUs since Turing, or of no GPU in particular.
_OF_ALL = (*_TEXTURES, *_UNIT, *_SIMULATOR, "register_names", "sector_bytes", "uniform_latency", "bank_cycles")


def _as_ampere(gpu: int) -> _Values:
    """Values of ``ampere``, for a later GPU of which no source has others; the distance of its code is known."""
    measured = f"{_HUERTA}, section" if gpu == 120 else "-"  # they measured Turing, Ampere and Blackwell
    known = {key for key, (_, source) in _AMPERE.items() if key in _OF_ALL or source.startswith(measured)}
    least = f"ptxas: in code for sm_{gpu} readers are as close as in that for sm_86 (docs/architectures.md)"
    return {
        **{
            key: (value, source if key in known else f"open for this GPU; as in `ampere`: {source}")
            for key, (value, source) in _AMPERE.items()
        },
        "alu_latency": (3, least),
        "fma_latency": (3, least),
    }


def _shape(capability: str, warps: int, ctas: int, shared: int, unified: int) -> _Values:
    """What CUDA tells of an SM by its compute capability, memories in KB."""
    lines = (unified - shared) * 8 // 4
    told = f"CUDA, compute capability {capability}"
    return {
        "warps": (warps // 4, f"{told}: {warps} warps per SM; {_SCHEDULER_SHARE}"),
        "ctas": (ctas, f"{told}: {ctas} CTAs per SM"),
        "shared_bytes": (shared * 1024, f"{told}: {shared} KB"),
        "cache_lines": (lines, f"{told}: {unified} KB, less shared memory; {_SCHEDULER_SHARE}"),
    }


_LUO = "Luo et al., IPDPS 2024"
_ADA: _Values = {
    **_shape("8.9", 48, 24, 100, 128),
    **_unit("double", 64, 64, "GPGPU-Sim SM89_RTX4060_LAPTOP: dp 64, one in 64 cycles"),
    **_unit("sfu", 16, 8, "GPGPU-Sim SM89_RTX4060_LAPTOP: sfu 21, 8, as in SM86_RTX3070: that of `ampere`"),
    "shared_latency": (
        16,
        "GPGPU-Sim SM89_RTX4060_LAPTOP: shared memory 29, as in SM86_RTX3070: that of `ampere`",
    ),
    "hit_latency": (30, f"that of `ampere` and 6; {_LUO}: 43.4 cycles on an RTX 4090, 37.9 on an A100"),
    "miss_latency": (498, f"{_LUO}: 541.5 cycles to memory on an RTX 4090, 43.4 of them to the L1"),
    **_misses("SM89_RTX4060_LAPTOP", 4, 384, 48, 4),
}
_H100 = "measured on an H100 (docs/hardware.md)"
_LESS = "cycles from issue to a dependent issue, less the way to dispatch"
_HOPPER: _Values = {
    **_shape("9.0", 64, 32, 228, 256),
    "banks": (2, f"{_H100}: three sources of one parity cost most of a cycle, and reuse takes it back"),
    "bank_skew": ("none", f"{_H100}: the bank is the parity of the register"),
    "alu_latency": (3, f"{_H100}: 4 cycles from issue to a dependent issue"),
    "fma_latency": (3, f"{_H100}: 4 cycles from issue to a dependent issue"),
    **_unit("double", 3, 2, f"{_H100}: 8 {_LESS}, which leaves the least; GPGPU-Sim SM90_H100: one in 2 cycles"),
    **_unit("tensor", 9, 8, f"{_H100}: HMMA.1688.F32 17 {_LESS}; GPGPU-Sim SM90_H100: one in 8 cycles"),
    **_unit("sfu", 9, 8, f"{_H100}: MUFU 17 {_LESS}; GPGPU-Sim SM90_H100: one in 8 cycles"),
    "shared_latency": (15, f"{_H100}: LDS 23 {_LESS}"),
    "hit_latency": (26, f"{_H100}: LDG 34 {_LESS}"),
    "miss_latency": (431, _MISS.format("SM90_H100", 237, 194)),
    **_misses("SM90_H100", 4, 512, 64, 4),
}
_5070 = "SM120_RTX5070_TI of Huerta et al.'s simulator, as a public copy has it"
_BLACKWELL: _Values = {
    **_shape("12.0", 48, 24, 100, 128),
    **_unit("double", 24, 16, f"{_5070}: dp 24, one in 16 cycles"),
    **_unit("tensor", 32, 8, f"{_5070}: tensor 32, one in 8 cycles"),
    **_unit("sfu", 16, 8, f"{_5070}: 8 behind 8, as in `ampere`"),
    "miss_latency": (556, _MISS.format(_5070, 301, 255)),
    **_misses(_5070, 4, 384, 48, 4),
}

_ALL = (
    _preset(
        "turing",
        "One sub-core of a Turing SM (Malekeh: RTX 2060)",
        {
            **_TEXTURES,
            **_SIMULATOR,
            "stores": (
                "through",
                "GPGPU-Sim SM75_RTX2060: L1 written through, a miss gets a place and fetches nothing",
            ),
            "warps": (8, f"Malekeh, Tab. 1: 32 warps per SM; {_SCHEDULER_SHARE}"),
            "domains": (4, f"GPGPU-Sim SM75_RTX2060: four schedulers; {_DEALING}"),
            "ctas": (16, "CUDA, compute capability 7.5: 16 CTAs per SM"),
            "shared_bytes": (65536, "CUDA, compute capability 7.5: 64 KB"),
            "register_names": (256, "SASS names R0 to R254 with 8 bits"),
            **_UNIT,
            "banks": (2, "GPGPU-Sim SM75_RTX2060: 8 banks per SM, 2 per sub-core"),
            "rows": (256, "Malekeh, Tab. 1: 256 KB per SM = 2 banks x 256 warp registers per sub-core"),
            "bank_ports": (
                "1R1W",
                "Malekeh, section 2: single- or dual-ported banks; hardware has a read and a write port",
            ),
            "bank_skew": ("warp", "GPGPU-Sim: bank from register plus warp number"),
            "collectors": (2, "Malekeh, section 9.4: 128 B of tags and state per SM = 8 units = 2 per sub-core"),
            "source_slots": (8, "Malekeh, sections 2 and 3.2: up to 7 sources; 8 entries per unit"),
            "collect": ("all", "GPGPU-Sim: a unit receives any number of operands in a cycle"),
            "bank_arbitration": (
                "oldest",
                "open in the paper; the older unit first, so that a baseline unit waits as a caching one",
            ),
            "dispatch_arbitration": ("oldest", "open in the paper; oldest first per execution unit"),
            "scheduler": ("gto", "Malekeh, Tab. 1: greedy then oldest"),
            "bank_cycles": (1, _PORT_CYCLES),
            "branch_delay": (4, _NO_BRANCH),
            "alu_latency": (3, _WAY.format("SM75_RTX2060: int 2", 7, 4)),
            "alu_interval": (2, "GPGPU-Sim SM75_RTX2060: int 2 (16 lanes per sub-core)"),
            "ports": (6, "GPGPU-Sim SM75_RTX2060: units of every class in each sub-core, each with its own way in"),
            "fma_latency": (3, _WAY.format("SM75_RTX2060: sp 2", 7, 4)),
            "fma_interval": (2, "GPGPU-Sim SM75_RTX2060: sp 2 (16 lanes per sub-core)"),
            "double_latency": (64, "GPGPU-Sim SM75_RTX2060: dp 64"),
            "double_interval": (64, "GPGPU-Sim SM75_RTX2060: dp 64"),
            "tensor_latency": (16, "GPGPU-Sim SM75_RTX2060: tensor 16"),
            "tensor_interval": (16, "GPGPU-Sim SM75_RTX2060: tensor 16"),
            "sfu_latency": (21, "GPGPU-Sim SM75_RTX2060: sfu 21"),
            "sfu_interval": (8, "GPGPU-Sim SM75_RTX2060: sfu 8"),
            "lsu_interval": (8, _LSU_TURING),
            "shared_latency": (19, _SHARED_TURING),
            "hit_latency": (32, "GPGPU-Sim SM75_RTX2060: L1 32"),
            "miss_latency": _MISS_TURING,
            "sector_interval": (4, _DRAM_RATE + _A_QUARTER),
            "sector_bytes": (32, _SECTORS),
            **_L1_TURING,
            "uniform_latency": (6, _UNIFORM),
        },
    ),
    _preset(
        "pascal",
        "One of four schedulers of a Pascal SM (BOW: TITAN X)",
        {
            **_titan_x(4),
            **_UNIT,
            "warps": (8, f"BOW, Tab. 3.2: 32 warps per SM; {_SCHEDULER_SHARE}"),
            "domains": (4, f"BOW, section 3.2: four schedulers per SM; {_DEALING}"),
            "ctas": (16, "BOW, Tab. 3.2: 16 CTAs per SM"),
            "shared_bytes": (98304, "BOW, Tab. 3.2: 96 KB"),
            "banks": (8, f"BOW, section 3.2: 32 banks per SM; {_SCHEDULER_SHARE}"),
            "rows": (64, "BOW, section 3.2: 256 KB in 32 banks = 64 warp registers each"),
            "bank_ports": ("1RW", "BOW, section 3.2: single-ported banks"),
            "collectors": (8, "BOW, section 3.2: 32 units per SM, one per warp"),
            "source_slots": (
                3,
                "BOW, section 3.2: three entries of 128 B per unit; wider instructions take several beats",
            ),
            "bank_skew": ("warp", "GPGPU-Sim: bank from register plus warp number"),
            "collect": ("lowest", "BOW, Fig. 3.5: one operand input per unit; the lowest slot asks first"),
            "bank_arbitration": ("round_robin", _ROUND_ROBIN),
            "dispatch_arbitration": ("round_robin", _ROUND_ROBIN),
            "scheduler": ("gto", "BOW, Tab. 3.2: greedy then oldest; its second issue per cycle is left out"),
            "cache_lines": (96, f"BOW, Tab. 3.2: L1 48 KB; {_SCHEDULER_SHARE}"),
            "cached": ("local", f"GPGPU-Sim SM6_TITANX: {_SKIPPED}"),
        },
    ),
    _preset(
        "isca2011",
        "The SM of Gebhart 2011 (register file cache, two-level scheduler)",
        {
            "texture_latency": (400, "Tab. 4: DRAM and texture 400 cycles"),
            "texture_interval": (4, "default; the paper says nothing"),
            "stores": ("around", "section 4: no caches"),
            **{
                name: (getattr(Config(), name), "section 4: no caches") for name in ("l1_banks", "mshrs", "mshr_merges")
            },
            "warps": (32, "section 2.1: 1024 threads per SM"),
            "shared_bytes": (32768, "Tab. 4: 32 KB"),
            "banks": (4, "section 2.1: 32 banks of 128 bits = 4 banks in each of 8 clusters that act in step"),
            "rows": (256, "section 2.1: 256 entries per bank"),
            "bank_ports": ("1R1W", "section 2.1: one read and one write port per bank"),
            "collectors": (
                4,
                (
                    "section 3.1, Fig. 3: three operand-fetch stages hold one instruction each; a fourth unit, because"
                    " one that dispatches is free only in the next cycle (three would issue in 3 of 4 cycles)"
                ),
            ),
            "source_slots": (3, "section 2.1: up to three sources per instruction; wider ones take several beats"),
            "bank_skew": ("warp", "open in the paper; as in GPGPU-Sim, register plus warp number"),
            "collect": ("all", "section 2.1: operands of one instruction are fetched from different banks at once"),
            "bank_arbitration": ("oldest", "in-order pipeline: the oldest instruction first"),
            "dispatch_arbitration": ("oldest", "in-order pipeline: the oldest instruction first"),
            "scheduler": ("gto", "section 5.2: greedy"),
            "bank_cycles": (1, "section 2.1: pipelined banks, one access per cycle and port"),
            "branch_delay": (
                3,
                "a warp issues again 5 cycles after a branch, the depth of the pipeline before the tag check",
            ),
            "alu_latency": (
                4,
                "Tab. 4: 8 cycles, which section 5.5 has the active warps hide: from issue to dependent issue. Here 4"
                " of them are issue to dispatch, and write-back to issue",
            ),
            "alu_interval": (1, "Tab. 4: full rate"),
            **_units(4, 1, "Tab. 4: ALU 8 cycles, full rate, counted like those of alu_latency"),
            "sfu_latency": (16, "Tab. 4: 20 cycles, counted like those of alu_latency"),
            "sfu_interval": (4, "Tab. 4: 8 operations per cycle, 32 lanes"),
            "lsu_interval": (4, "Tab. 4: shared memory 32 B per cycle"),
            "shared_latency": (16, "Tab. 4: 20 cycles, counted like those of alu_latency"),
            "hit_latency": (400, "section 4: no caches; also where a trace lacks addresses"),
            "miss_latency": (400, "Tab. 4: DRAM and texture 400 cycles"),
            "sector_interval": (1, "Tab. 4: 32 B per cycle"),
            "sector_bytes": (
                32,
                "no line without a cache; CUDA, compute capability 2.x: 32 bytes where L1 is left out",
            ),
            "cache_lines": (0, "section 4: no caches"),
            "uniform_latency": (7, _UNIFORM),
        },
    ),
    _preset(
        "fermi",
        "One of two schedulers of a Fermi SM (CORF)",
        {
            **_FERMI,
            "scheduler": ("two_level", "CORF, section 2.7: two warp schedulers per SM, two-level"),
            "active_warps": (6, f"open in the paper; {_COMMENTED}: 6 active warps"),
            "active_choice": ("round_robin", f"open in the paper; {_COMMENTED}: active warps in loose round robin"),
            "suspend": (
                "pending",
                "GPGPU-Sim: a warp leaves whose next instruction reads what a load has not brought",
            ),
        },
    ),
    _preset(
        "fermi_linear",
        "One of two schedulers of a Fermi SM, registers counted through without warp skew (RegMutex: GTX 480)",
        {
            **_FERMI,
            "domains": (2, f"RegMutex, section 4.4: {_TWO_DOMAINS}"),
            "bank_skew": (
                "none",
                "RegMutex, Fig. 4.6a: place = register + count x warp; adding the warp would let warps collide",
            ),
            "warps": (24, f"RegMutex, section 4.3.2: 48 warps per SM; {_HALF_SHARE}"),
            "banks": (8, f"{_SHIPPED}: 16 banks; {_HALF_SHARE}"),
            "rows": (64, "RegMutex, section 4.4: 128 KB in 16 banks"),
            "collectors": (8, f"{_SHIPPED}: 6 units for ALUs, 8 for SFUs, 2 for memory; {_HALF_SHARE}"),
            "collect": ("all", "GPGPU-Sim: a unit receives any number of operands in a cycle"),
            "alu_latency": (6, _WAY.format("SM2_GTX480: integer and float add 4", 10, 4)),
            **_units(6, 1, _FERMI_FMA),
            **_FERMI_DOUBLE,
            "uniform_latency": (9, _UNIFORM),
            "scheduler": ("gto", "RegMutex, section 4.4: greedy then oldest"),
        },
    ),
    _preset(
        "kepler",
        "One of four schedulers of a Kepler SM (Pilot: GTX 780)",
        {
            **_TEXTURES,
            **_SIMULATOR,
            **_misses("SM3_KEPLER_TITAN", 1, 256, 8, 4, "sector of 32 bytes; here for a line"),
            "stores": ("around", f"GPGPU-Sim SM3_KEPLER_TITAN: {_AROUND}"),
            "warps": (16, f"Pilot, Tab. II: 64 warps per SM; {_SCHEDULER_SHARE}"),
            "domains": (4, f"Pilot, section I: four schedulers per SM; {_DEALING}"),
            "ctas": (16, "Pilot, section II: at most 16 CTAs per SM"),
            "shared_bytes": (49152, "GPGPU-Sim SM3_KEPLER_TITAN: 48 KB"),
            "register_names": (64, f"Pilot, section III-B: at most 63 registers, {_SIX_BITS}"),
            **_UNIT,
            "banks": (
                4,
                "Pilot, Tab. II: 24 banks of 256 KB; 16 instead, since 2048 does not divide by 24; a quarter of them",
            ),
            "rows": (128, "Pilot, Tab. II: 256 KB in 16 banks"),
            "bank_ports": ("1RW", "Pilot, Fig. 3b: one request is active per bank"),
            "bank_skew": ("none", "open in the paper; linear places, as the partitioned file needs them"),
            "collectors": (6, f"Pilot, Tab. II: 24 units; {_SCHEDULER_SHARE}"),
            "source_slots": (3, _THREE),
            "collect": ("all", "open in the paper; a slow and a fast read of one unit may return together"),
            "bank_arbitration": ("oldest", "open in the paper; oldest issue first"),
            "dispatch_arbitration": ("oldest", "open in the paper; oldest first, as at the banks"),
            "scheduler": ("gto", "Pilot, section V: greedy then oldest; the second issue per cycle is left out"),
            "bank_cycles": (1, "Pilot, section V-B: 1 cycle at nominal voltage"),
            "branch_delay": (4, _NO_BRANCH),
            "alu_latency": (5, _WAY.format("SM3_KEPLER_TITAN: int and sp 4", 9, 4)),
            "alu_interval": (1, "GPGPU-Sim SM3_KEPLER_TITAN: int and sp 1"),
            **_units(5, 1, "GPGPU-Sim SM3_KEPLER_TITAN: int and sp 4, 1; counted like alu_latency"),
            **_unit("double", 20, 2, "GPGPU-Sim SM3_KEPLER_TITAN: dp 20, one in 2 cycles in each of 4 units"),
            "sfu_latency": (20, _KEPLER_SFU),
            "sfu_interval": (4, "GPGPU-Sim SM3_KEPLER_TITAN: 2 units of interval 2 for four schedulers"),
            "lsu_interval": (4, f"NVIDIA, GK110 whitepaper: {_LSU_32}{_A_QUARTER}"),
            "shared_latency": (24, "GPGPU-Sim SM3_KEPLER_TITAN: shared memory 24"),
            "hit_latency": (82, "GPGPU-Sim SM3_KEPLER_TITAN: L1 82"),
            "miss_latency": (220, _MISS.format("SM3_KEPLER_TITAN", 120, 100)),
            "sector_interval": (16, _DRAM_LINES + _A_QUARTER),
            "sector_bytes": (128, _NO_SECTORS),
            "cache_lines": (32, f"GPGPU-Sim SM3_KEPLER_TITAN: L1 16 KB; {_SCHEDULER_SHARE}"),
            "cache_ways": (32, "GPGPU-Sim SM3_KEPLER_TITAN: 4 sets of 32 ways in the SM"),
            "cached": ("local", f"GPGPU-Sim SM3_KEPLER_TITAN: {_SKIPPED}"),
            "uniform_latency": (8, _UNIFORM),
        },
    ),
    _preset(
        "maxwell",
        "A Maxwell-like SM with one scheduler (LTRF, design point 1)",
        {
            **_titan_x(1),
            "warps": (64, "LTRF, Tab. 3: 64 warps per SM"),
            "ctas": (32, "CUDA, compute capability 5.x: 32 CTAs per SM"),
            "register_names": (256, "LTRF, section 3.2: at most 256 registers"),
            **_UNIT,
            "banks": (16, "LTRF, Tab. 2, design point 1: 16 banks"),
            "rows": (128, "LTRF, Tab. 2: banks of 16 KB"),
            "bank_ports": ("1RW", "open in the paper; one access at a time"),
            "bank_cycles": (
                3,
                "open in the paper, which gives multiples only; 3 cycles for design point 1, not pipelined",
            ),
            "bank_skew": ("row", "open in the paper; adding the row spreads equal registers of different warps"),
            "collectors": (16, "LTRF, Fig. 5: 16 units"),
            "source_slots": (3, _THREE),
            "collect": ("one", "open in the paper; one operand per unit and cycle"),
            "bank_arbitration": ("oldest", "open in the paper; the oldest unit first"),
            "dispatch_arbitration": ("oldest", "open in the paper; the oldest unit first"),
            "scheduler": ("lrr", "LTRF, section 3: fair, for example round robin"),
            "cache_lines": (128, "LTRF, Tab. 3: L1 16 KB, 4 ways, 128-byte lines"),
        },
    ),
    _preset(
        "pascal_larf",
        "A Pascal SM with one scheduler (LARF: GP102)",
        {
            **_titan_x(1),
            "warps": (64, "CUDA, compute capability 6.1: 64 warps per SM"),
            "ctas": (32, "CUDA, compute capability 6.1: 32 CTAs per SM"),
            "shared_bytes": (98304, "LARF, section 5.6: 96 KB"),
            "register_names": (64, f"open in the paper; {_SIX_BITS}"),
            **_UNIT,
            "banks": (4, "LARF, Fig. 5.5: four banks in each of 8 clusters that act in step"),
            "rows": (256, "LARF, section 5.6: 128 KB (section 5.6.4 gives 11-bit places, 256 KB: then 512 rows)"),
            "bank_skew": (
                "none",
                "open in the paper; a renamed place has its bank in its low bits, so the baseline counts through too",
            ),
            "collectors": (16, "LARF, section 5.6.4: 16 units per SM"),
            "source_slots": (3, _THREE),
            "bank_ports": ("1RW", "open in the paper; single-ported as in its other chapters"),
            "collect": ("lowest", "open in the paper; one operand input per unit, as in its other chapters"),
            "bank_arbitration": ("round_robin", _ROUND_ROBIN),
            "dispatch_arbitration": (
                "oldest",
                "open in the paper; the memory port takes the oldest, which fixes the order of sharing",
            ),
            "scheduler": ("lrr", "LARF, section 5.4: loose round robin is what the paper builds on"),
            "cache_lines": (384, "BOW, Tab. 3.2, the same chip: L1 48 KB"),
            "cached": ("local", f"GPGPU-Sim SM6_TITANX: {_SKIPPED}"),
            "sector_interval": (
                3,
                "GPGPU-Sim SM6_TITANX: 12 DRAM channels of 4 B, four transfers per clock of 2500 MHz, for 28 SMs of"
                " 1417 MHz: 12.1 B per cycle and SM, which all four schedulers of the SM share there",
            ),
        },
    ),
    _preset(
        "turing_rfc",
        "One sub-core of a Turing SM, by measurements (Huerta et al.: RTX 2080 Ti)",
        {
            **_two_banks(2, "Huerta et al., section 5.3: units of half a warp", _LSU_TURING, _MISS_TURING),
            "warps": (8, f"Huerta et al., Tab. 4: 32 warps per SM; {_SCHEDULER_SHARE}"),
            "shared_bytes": (65536, "CUDA, compute capability 7.5: 64 KB"),
            **_unit("tensor", 16, 16, "GPGPU-Sim SM75_RTX2060: tensor 16"),
            "sfu_latency": (21, "GPGPU-Sim SM75_RTX2060: sfu 21"),
            "sfu_interval": (8, "GPGPU-Sim SM75_RTX2060: sfu 8"),
            "shared_latency": (19, _SHARED_TURING),
            "hit_latency": (32, "GPGPU-Sim SM75_RTX2060: L1 32"),
            **_L1_TURING,
        },
    ),
    _preset("ampere", "One sub-core of an Ampere SM, by measurements (Huerta et al.: RTX A6000)", _AMPERE),
    _preset("ada", "One sub-core of an Ada SM (Luo et al.: RTX 4090)", {**_as_ampere(89), **_ADA}),
    _preset("hopper", "One sub-core of a Hopper SM, by measurements (H100)", {**_as_ampere(90), **_HOPPER}),
    _preset(
        "blackwell",
        "One sub-core of a Blackwell SM without tensor memory (Huerta et al.: RTX 5070 Ti)",
        {**_as_ampere(120), **_BLACKWELL},
    ),
    _preset(
        "tiny",
        "Small and awkward on purpose: odd counts, two-source beats, little room anywhere",
        {
            "lanes": (4, "fast simulation; control does not depend on the number of lanes"),
            "warps": (5, "no power of two"),
            "ctas": (3, "fewer than warps, no power of two"),
            "shared_bytes": (8192, "enough for the bundled kernels"),
            "register_names": (64, "enough for the bundled kernels"),
            "banks": (2, "frequent conflicts"),
            "rows": (128, "four warps of the widest bundled kernel"),
            "collectors": (3, "no power of two"),
            "bank_ports": ("1RW", "writes and reads collide"),
            "bank_skew": ("warp", "registers of a warp are spread differently for each warp"),
            "collect": ("lowest", "one operand per unit and cycle"),
            "bank_arbitration": ("round_robin", "pointers wrap at three"),
            "dispatch_arbitration": ("round_robin", "pointers wrap at three"),
            "scheduler": ("gto", "ages and greed"),
            "source_slots": (2, "a multiply-add takes two beats"),
            **_short(bank_cycles=1, branch_delay=1, alu_latency=2, alu_interval=1, sfu_latency=5, sfu_interval=2),
            **_short(fma_latency=3, fma_interval=1, double_latency=7, double_interval=3),
            **_short(tensor_latency=6, tensor_interval=4),
            **_short(texture_latency=11, texture_interval=2),
            "stores": ("back", "stores move what the cache holds"),
            "l1_banks": (2, "those of odd sectors wait while the others go on"),
            "mshrs": (12, "fewer than the sectors of a gather"),
            "mshr_merges": (2, "fewer than warps"),
            **_short(lsu_interval=1, shared_latency=4, hit_latency=6, miss_latency=20, sector_interval=1),
            "sector_bytes": (32, "four sectors to a line"),
            "uniform_latency": (5, _UNIFORM),
            "cache_lines": (8, "two sets, so that lines are replaced"),
        },
    ),
    _preset(
        "peer",
        "The operand stage of Vortex that was measured for comparison",
        {
            "banks": (4, "Vortex: four banks per collector"),
            "register_names": (64, "Vortex: 32 integer and 32 floating-point registers"),
            "rows": (128, "Vortex: two units with a private 4 x 64 rows each; here one file of the same size"),
            "bank_ports": ("1R1W", "Vortex: one read and one write port per bank"),
            "bank_skew": ("none", "Vortex: bank = register mod banks"),
            "collectors": (2, "Vortex: two collectors for 8 warps"),
            "warps": (8, "Vortex: the measured configuration"),
            "source_slots": (3, "Vortex: three sources"),
            "bank_arbitration": ("round_robin", _NOT_COMPARED),
            "dispatch_arbitration": ("round_robin", _NOT_COMPARED),
            "collect": ("all", "Vortex: private banks, so that the sources of one unit are read side by side"),
            "scheduler": ("lrr", "not part of what is compared"),
            "ports": (1, "Vortex: one output to dispatch"),
            "payload_bits": (75, "Vortex: about 91 bits beside the operands, less what a unit here holds itself"),
            "bank_cycles": (1, _PORT_CYCLES),
            **{
                name: (getattr(Config(), name), _NOT_COMPARED)
                for name in (*LATENCIES, *_MEMORY)
                if name != "bank_cycles"
            },
        },
    ),
)

#: All presets by name.
PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _ALL})

_INTRODUCTION = """# Presets

<!-- Written by `python -m warpfile.pages presets`; change `spec/presets.py` instead. -->

Each preset is the machine around one published scheme, and every scheme is compared with the baseline at the values of
its own preset. One preset is one scheduling domain: its own warps, one scheduler with one issue per cycle, its own
banks, collector units and execution ports. `domains` says how many of them make the SM of the paper. The warps of
every CTA are dealt to them in turn; a run is that of one of them, `domain` (`--domain 3`). CTA slots and shared memory
are those of the SM, because every CTA is in all of its domains. Everything else that a source gives for a whole SM
(warps, banks, units, LSU, cache, misses under way, bandwidth of memory) is there as the domain's share. All presets are
built with 32 lanes except `tiny`; any of them can be built narrower (`--set lanes=4`), because control does not depend
on lanes.

What is said of GPGPU-Sim's files is of the tested configurations that belong to Accel-Sim: `gpgpusim.config`, and
`trace.config` for the units where there is one (not for `SM2_GTX480`, whose times are those of PTX). In GPGPU-Sim's own
last release `SM75_RTX2060` is another one.
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
    for spec in dataclasses.fields(Config):
        yield _row(f"`{spec.name}`", *(getattr(PRESETS[name].config, spec.name) for name in names))


def _section(preset: Preset) -> Iterator[str]:
    yield f"## {preset.name}\n"
    yield f"{preset.title}. Domains per SM: {preset.config.domains}. Warp registers: {_capacity(preset.config)}.\n"
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
