"""``rfc``: register cache per active warp under the two-level scheduler (docs/schemes/rfc.md)."""

from warpfile.compiler.passes.rfc.annotate import annotate, label, shown
from warpfile.schemes.baseline import BANK_ACCESSES, REACHED, UNITS
from warpfile.schemes.part import Hints, Part
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.rfc import COUNTERS, STRUCTURES, RfcConfig, cache_events, cache_probes

RFC = Part(
    name="rfc",
    slot="rf",
    summary="a small cache per active warp and a write queue per bank, in front of the banks",
    golden="warpfile.golden.rf.rfc.file:CachedFile",
    rtl="warpfile.hdl.rf.rfc.file:CachedFile",
    parameters=RfcConfig,
    probes=cache_probes,
    events=cache_events,
    settings={"tiny": {"active_warps": 2, "cache_entries": 2, "write_queue": 2}},
    structures=STRUCTURES,
    hints=Hints(label, {"suspend, dead, evict first, no allocate": shown}, annotate),
)

_UNCACHED = ("bypasses_hint", "bypasses_partial", "bypasses_full", "long_results")

PARTS = (RFC,)
SCHEMES = (
    Scheme(
        name="rfc",
        summary="register file cache per active warp, two-level scheduler, dead bits",
        preset="isca2011",
        collectors=UNITS,
        rf=RFC,
        reached=(*REACHED, "bank_reads", "unit_cycles", "cache_hits", "cache_misses", "interlocks", *COUNTERS),
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
    ),
)
