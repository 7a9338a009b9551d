"""``bow`` and ``bow_wr``: operand windows in place of collector units (docs/schemes/bow.md)."""

from warpfile.compiler.passes.bow.annotate import annotate, classes, label
from warpfile.schemes.baseline import BANK_ACCESSES, BANKED, REACHED
from warpfile.schemes.part import Hints, Part
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.bow import STRUCTURES, BowConfig, window_events, window_probes

BOW = Part(
    name="bow",
    slot="collectors",
    summary="operand windows: one per warp, results forwarded, written through or back",
    golden="warpfile.golden.collectors.bow.collectors:Windows",
    rtl="warpfile.hdl.collectors.bow.collectors:Windows",
    parameters=BowConfig,
    probes=window_probes,
    events=window_events,
    settings={"tiny": {"window_entries": 4}},
    structures=STRUCTURES,
    hints=Hints(label, {"write_class": classes}, annotate),
    harness="warpfile.sim.poison:window_poison",
)

_REACHED = (
    *REACHED,
    *("bypassed_reads", "late_results", "refusals", "victims", "stall_slot"),
    *("stall_entry", "stall_write_after_read"),
)
_WRITING_BACK = (
    *("bypassed_writes", "saved_writes", "evictions", "discards", "victims_transient", "dropped_results"),
    *("late_bank_writes", "stall_evict", "class_0", "class_1", "class_2", "class_3"),
)
_ACCESSES = {
    **BANK_ACCESSES,
    "window_read": ("window_reads",),
    "window_write": ("window_writes",),
    "window_tag": ("bypassed_reads", "bank_reads", "results"),
}

PARTS = (BOW,)
SCHEMES = (
    Scheme(
        name="bow",
        summary="operand windows: one per warp, results forwarded and written through",
        preset="pascal",
        collectors=BOW,
        rf=BANKED,
        settings={"": {"window_writes": "through"}},
        reached=_REACHED,
        accesses=_ACCESSES,
        prices="bow",
    ),
    Scheme(
        name="bow_wr",
        summary="operand windows: results written back, or not, as the compiler says",
        preset="pascal",
        collectors=BOW,
        rf=BANKED,
        settings={"": {"window_writes": "hints"}},
        reached=_REACHED + _WRITING_BACK,
        accesses=_ACCESSES,
        prices="bow",
    ),
)
