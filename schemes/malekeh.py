"""``malekeh``: caching collector units (docs/schemes/malekeh.md)."""

from warpfile.compiler.passes.malekeh.annotate import annotate, label, near
from warpfile.schemes.baseline import BANK_ACCESSES, BANKED, REACHED, TURING_NM
from warpfile.schemes.part import Hints, Part
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.malekeh import COUNTERS, STRUCTURES, MalekehConfig, unit_events, unit_probes

MALEKEH = Part(
    name="malekeh",
    slot="collectors",
    summary="caching collector units: owners first, near registers kept, bounded wait",
    golden="warpfile.golden.collectors.malekeh.collectors:CachingCollectors",
    rtl="warpfile.hdl.collectors.malekeh.collectors:CachingCollectors",
    parameters=MalekehConfig,
    probes=unit_probes,
    events=unit_events,
    settings={"tiny": {"unit_entries": 4, "interval": 64}},
    structures=STRUCTURES,
    hints=Hints(label, {"near (sources, dests)": near}, annotate),
)

PARTS = (MALEKEH,)
SCHEMES = (
    Scheme(
        name="malekeh",
        summary="caching collector units: owners first, near registers kept, bounded wait",
        preset="turing",
        collectors=MALEKEH,
        rf=BANKED,
        reached=(*REACHED, *COUNTERS),
        accesses={
            **BANK_ACCESSES,
            "unit_write": ("bank_reads", "cached_results"),
            "unit_read": ("sources",),
            "unit_tag": ("sources", "bank_writes"),
        },
        node_nm=TURING_NM,
    ),
)
