"""``ltrf``, ``ltrf_plus``: register intervals that are prefetched into a cache (docs/schemes/ltrf.md)."""

from warpfile.schemes.baseline import BANK_ACCESSES, UNITS
from warpfile.schemes.part import LOOKED_UP_LATER, PLACES, RESIDENCY, Hints, Part
from warpfile.schemes.row import Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.ltrf import COUNTERS, STRUCTURES, LtrfConfig, ltrf_events, ltrf_probes

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
        "tiny": {"active_warps": 2, "bank_cycles": 3},
    },
    hints=Hints(f"{_PASS}:annotate", f"{_PASS}:label", ("dead",), {"register intervals": f"{_PASS}:shown"}),
    structures=STRUCTURES,
    proofs=(f"{_PROOFS}.parts:PROOFS", f"{_PROOFS}.partition:PROOFS", f"{_PROOFS}.ways:PROOFS"),
    reached=("bank_reads", "unit_cycles", *COUNTERS),
    accesses=BANK_ACCESSES,
    wants=(PLACES, LOOKED_UP_LATER),
    owns=(RESIDENCY,),
)

PARTS = (LTRF,)
SCHEMES = (
    Scheme(
        name="ltrf",
        summary="registers of an interval are prefetched into a cache, so that main banks may be slow",
        preset="maxwell",
        collectors=UNITS,
        rf=LTRF,
        setups=(Setup("maxwell"), Setup("tiny")),
    ),
    Scheme(
        name="ltrf_plus",
        summary="the same, and dead registers are not moved",
        preset="maxwell",
        collectors=UNITS,
        rf=LTRF,
        settings={"": {"liveness": 1}},
        setups=(Setup("maxwell"), Setup("tiny")),
    ),
)
