"""``sticky``: units that forward results and keep operands in their slots (docs/schemes/sticky.md)."""

from warpfile.schemes.baseline import BANKED, TURING_NM
from warpfile.schemes.part import AT_ONCE, Hits, Part
from warpfile.schemes.row import Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.sticky import STRUCTURES, StickyConfig, sticky_events, sticky_probes

STICKY = Part(
    name="sticky",
    slot="collectors",
    summary="collector units whose slots wait for results of fixed latency, and keep their operands",
    golden="warpfile.golden.collectors.sticky.collectors:StickyUnits",
    rtl="warpfile.hdl.collectors.sticky.collectors:StickyUnits",
    parameters=StickyConfig,
    probes=sticky_probes,
    events=sticky_events,
    structures=STRUCTURES,
    reached=("source_hits", "hit_beats", "overwrites", "source_awaits", "source_lates", "forwards", "await_cycles"),
    accesses={
        "collector_write": ("bank_reads", "forwards"),
        "collector_read": ("sources",),
        "slot_tag": ("sources",),
    },
    hits=Hits("operands that their slot had or took from a result", ("source_hits", "forwards"), ("sources",)),
    wants=(AT_ONCE,),
    proofs=tuple(f"tests.formal.collectors.sticky.{name}:PROOFS" for name in ("parts", "unit")),
)

PARTS = (STICKY,)
SCHEMES = (
    Scheme(
        name="sticky",
        summary="collector units that forward results of fixed latency and keep operands in their slots",
        preset="turing",
        collectors=STICKY,
        rf=BANKED,
        node_nm=TURING_NM,
        setups=(
            Setup("turing"),
            Setup("turing", {"forward_results": "none"}),
            Setup("turing", {"keep_operands": "none"}),
            Setup("tiny"),
            Setup("tiny", {"retake": "same", "collect": "all", "ports": 6, "bank_cycles": 2}, ()),
            Setup("tiny", {}, (), "sticky+two_level"),
            Setup("tiny", {}, (), "sticky+cggty"),
            Setup("tiny", {"collectors": 3, "collect": "all"}, machine="sticky+scalar"),
            Setup("pascal", {"lanes": 1, "bank_cycles": 2}, ()),
        ),
    ),
)
