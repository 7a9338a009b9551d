"""``ltrf``, ``ltrf_plus``: register intervals that are prefetched into a cache (docs/schemes/ltrf.md)."""

from warpfile.schemes.baseline import UNITS
from warpfile.schemes.part import LOOKED_UP_LATER, PLACES, RESIDENCY, Hints, Part
from warpfile.schemes.row import Claim, Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.ltrf import COUNTERS, STRUCTURES, LtrfConfig, ltrf_events, ltrf_probes
from warpfile.spec.structure import BANK_RAM, CACHE_RAM, TABLE_RAM

MAXWELL_NM = 28  #: NVIDIA GeForce GTX 980 whitepaper (2014): TSMC 28 nm
_PASS = "warpfile.compiler.passes.ltrf.annotate"
_PROOFS = "tests.formal.rf.ltrf"

LTRF = Part(
    name="ltrf",
    slot="rf",
    summary="a cache that prefetches fill interval by interval, in front of slow banks",
    golden="warpfile.golden.rf.ltrf.file:PrefetchedFile",
    rtl="warpfile.hdl.rf.ltrf.file:PrefetchedFile",
    parameters=LtrfConfig,
    probes=ltrf_probes,
    events=ltrf_events,
    settings={
        "": {"scheduler": "two_level", "resume": "all"},
        # Section 3, with the scheduler of Gebhart 2011: a warp that consumes a miss is deactivated; fair choice.
        "maxwell": {"long_from": "miss", "active_choice": "round_robin"},
        "tiny": {"active_warps": 2, "bank_cycles": 3},
    },
    hints=Hints(
        f"{_PASS}:annotate",
        f"{_PASS}:label",
        shown={"register intervals": f"{_PASS}:shown", "dead": f"{_PASS}:dead_shown"},
    ),
    structures=STRUCTURES,
    proofs=tuple(f"{_PROOFS}.{name}:PROOFS" for name in ("parts", "places", "ways")),
    reached=("bank_reads", "unit_cycles", "release_backs", *(name for name in COUNTERS if name != "error_cycles")),
    accesses={
        "bank_read": ("main_reads",),
        "bank_write": ("main_writes",),
        "crossbar": ("main_reads", "main_writes"),
        "cache_read": ("cache_reads",),
        "cache_write": ("cache_writes",),
    },
    rams={
        BANK_RAM: (("main_reads",), ("main_writes",)),
        CACHE_RAM: (("cache_reads",), ("cache_writes",)),
        TABLE_RAM: (("set_reads",), ("set_writes",)),
    },
    wants=(PLACES, LOOKED_UP_LATER),
    owns=(RESIDENCY,),
)

_MISSES: dict[str, object] = {"suspend": "outstanding", "long_from": "miss"}
_NEEDED: dict[str, object] = {"suspend_load": "needed", "suspend_barrier": "needed"}
#: Its file in the machine of ``rfc``, and under a scheduler that takes turns and a third way to read the cache. Other
#: collectors and schedulers do not fit.
_TURNS: dict[str, object] = {"active_choice": "round_robin", "collect": "one", "bank_arbitration": "oldest"}
COMBINED = (("rfc+ltrf", {"active_warps": 1}), ("ltrf+two_level", {"active_warps": 4} | _TURNS))

#: The paper's N = 16 counts registers of PTX, of which an interval holds more code than of SASS; only what changed goes
#: back, places are kept until another warp needs them, and nothing comes back before a PREFETCH.
_WIDE: dict[str, object] = {"interval_registers": 32, "moved_back": "dirty", "recall": "spared"} | _NEEDED


def _wide(of: str, summary: str, **settings: object) -> Scheme:
    return Scheme(
        name=f"{of}_32",
        summary=summary,
        preset="maxwell",
        collectors=UNITS,
        rf=LTRF,
        settings={"": _WIDE | settings},
        node_nm=MAXWELL_NM,
        variant_of=of,
    )


_AREA = Claim(
    "area over the baseline, of the register file",
    0.16,
    "section 4.3: 16 % of the register file, with cache and crossbar",
    "area over the baseline",
    why="logic and memories at the density above; the tables are flip-flops",
)
_FILE_BITS = 256 * 1024 * 8
#: What the reference design sums up: cache, control block, queues of places and their offsets, units, transfers.
_STORED = 131_072 + 114_880 + 1_104 + 56 + 448 + 2_160
_CLAIMS = (
    Claim(
        "bits of the control block, of the register file",
        114_880 / _FILE_BITS,
        "section 4.3: 114,880 bits, about 5 % of 256 KB",
        "bits",
        ("address tables", "warp offsets", "working sets and livenesses of the warps"),
        "address tables of 8 places, not of 64 warps; `control_block` = `warps` has 114,688 bits with `liveness`",
    ),
    Claim(
        "bits over the baseline, of the register file",
        _STORED / _FILE_BITS,
        "249,720 bits: the structures that the paper names, with its sizes",
        "storage over the baseline",
        why="fewer tables; but staging registers, latches, vectors of the places and the scheduler, "
        "which the paper leaves out",
    ),
    _AREA,
)

PARTS = (LTRF,)
SCHEMES = (
    Scheme(
        name="ltrf",
        summary="registers of an interval are prefetched into a cache, so that main banks may be slow",
        preset="maxwell",
        collectors=UNITS,
        rf=LTRF,
        node_nm=MAXWELL_NM,
        claims=(_AREA,),
        setups=(
            Setup("maxwell"),
            Setup("tiny"),
            Setup("tiny", {"prefetch_unit": "strands", "control_block": "warps"} | _MISSES, ()),
            Setup("tiny", {"moved_back": "dirty", "active_warps": 4, "bank_cycles": 1} | _NEEDED, ()),
            *(Setup("tiny", changes, (), name) for name, changes in COMBINED),
            *(Setup(preset, machine="ltrf_32") for preset in ("maxwell", "tiny")),
        ),
        study="warpfile.pages.evidence.ltrf",
        survivors="warpfile.schemes:survivors/ltrf.toml",
    ),
    Scheme(
        name="ltrf_plus",
        summary="the same, and dead registers are not moved",
        preset="maxwell",
        collectors=UNITS,
        rf=LTRF,
        settings={"": {"liveness": 1}},
        node_nm=MAXWELL_NM,
        claims=_CLAIMS,
        setups=(
            Setup("maxwell"),
            Setup("tiny"),
            Setup("tiny", {"moved_back": "dirty", "crossbar_beats": 2, "collect": "all"} | _MISSES, ()),
            Setup("tiny", {"crossbar_beats": 1, "bank_cycles": 19, "active_warps": 4, "banks": 4} | _NEEDED, ()),
            *(Setup(preset, machine="ltrf_plus_32") for preset in ("maxwell", "tiny")),
        ),
        survivors="warpfile.schemes:survivors/ltrf_plus.toml",
    ),
    _wide("ltrf", "ltrf with intervals of 32 registers, which stand for the 16 of the paper on allocated PTX"),
    _wide(
        "ltrf_plus",
        "ltrf_plus with intervals of 32 registers, which stand for the 16 of the paper on allocated PTX",
        liveness=1,
    ),
)
