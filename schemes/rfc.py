"""``rfc``: register cache per active warp under the two-level scheduler (docs/schemes/rfc.md)."""

from warpfile.schemes.baseline import BANK_ACCESSES, BANK_COUNTERS, UNITS
from warpfile.schemes.part import LOOKED_UP_LATER, PLACES, RESIDENCY, Hints, Hits, Part
from warpfile.schemes.row import Claim, Setup
from warpfile.schemes.scheme import Scheme
from warpfile.schemes.two_level import FIELDS
from warpfile.spec.schemes.rfc import COUNTERS, STRUCTURES, RfcConfig, cache_events, cache_probes

_PASS = "warpfile.compiler.passes.rfc.annotate"
_FORMAL = "tests.formal.rf.rfc"
_UNCACHED = ("bypasses_hint", "bypasses_partial", "bypasses_full", "long_results")

RFC = Part(
    name="rfc",
    slot="rf",
    summary="a small cache per active warp and a write queue per bank, in front of the banks",
    golden="warpfile.golden.rf.rfc.file:CachedFile",
    rtl="warpfile.hdl.rf.rfc.file:CachedFile",
    parameters=RfcConfig,
    probes=cache_probes,
    events=cache_events,
    settings={
        "": {"scheduler": "two_level"},
        # A stage more (section 3.1, Fig. 3), so that one more instruction is in flight than in the baseline.
        "isca2011": {"collectors": 5},
        "tiny": {"active_warps": 2, "cache_entries": 2, "write_queue": 2},
    },
    structures=STRUCTURES,
    hints=Hints(
        f"{_PASS}:annotate",
        f"{_PASS}:label",
        ("no_allocate", "suspend", "dead", "evict_first"),
        {"suspend, dead, evict first, no allocate": f"{_PASS}:shown"},
    ),
    reached=("bank_reads", "unit_cycles", "cache_hits", "cache_misses", "interlocks", *COUNTERS),
    accesses={
        **BANK_ACCESSES,
        "cache_read": ("cache_hits", "evictions", "flushes"),
        "cache_write": ("cache_writes",),
        "cache_tag": ("cache_hits", "cache_misses", "cache_writes", *_UNCACHED),
        "queue_write": ("evictions", "flushes", *_UNCACHED),
        "queue_read": ("bank_writes",),
        "collector_write": ("cache_hits", "cache_misses"),
        "collector_read": ("cache_hits", "cache_misses"),
    },
    prices="rfc",
    rams=BANK_COUNTERS,
    hits=Hits("operands found in the cache", ("cache_hits",), ("cache_hits", "cache_misses")),
    wants=(PLACES, LOOKED_UP_LATER),
    owns=(RESIDENCY,),
    defines=FIELDS,
    proofs=tuple(f"{_FORMAL}.{name}:PROOFS" for name in ("parts", "tags", "lines", "writes", "queue", "partial")),
)

PARTS = (RFC,)
SCHEMES = (
    Scheme(
        name="rfc",
        summary="register file cache per active warp, two-level scheduler, dead bits",
        preset="isca2011",
        collectors=UNITS,
        rf=RFC,
        claims=(
            Claim(
                "bits of the cache, of the register file",
                1 / 21.3,
                "section 3.3: 6 KB, 21 times smaller than 128 KB",
                "bits",
                ("cache lines",),
            ),
            Claim(
                "area of the cache's data, of the register file",
                32 * 14_300 / (32 * 38_000),
                "Table 2: 14,300 um2 per lane; Table 3: 38,000 um2 per bank",
                "area",
                ("cache_lane",),
                "flip-flops in both: 10.1 um2 per bit (of 0.798 um2 per NAND2) and 9.3; the paper's banks have 1.16 um2"
                " per bit, the density here 1.06",
            ),
        ),
        setups=(
            Setup("isca2011"),
            Setup("tiny"),
            Setup("tiny", {"replacement": "lru", "suspend": "always", "bank_ports": "1R1W", "cache_entries": 3}, ()),
            Setup(
                "tiny",
                {
                    "replacement": "evict_first",
                    "allocation": "hinted",
                    "active_choice": "round_robin",
                    "suspend_barrier": "needed",
                },
                (),
            ),
            Setup("isca2011", {"active_warps": 32, "suspend": "never", "long_results": "allocate"}),
            Setup("tiny", {"partial_results": "lanes"}, ()),
        ),
        study="warpfile.pages.evidence.rfc",
        survivors="warpfile.schemes:survivors/rfc.toml",
    ),
)
