"""``bow`` and ``bow_wr``: operand windows instead of collector units (docs/schemes/bow.md)."""

from warpfile.schemes.baseline import BANKED
from warpfile.schemes.part import AT_ONCE, LOOKED_UP_ONE_BY_ONE, RENAMED, STAYING, Hints, Hits, Part
from warpfile.schemes.row import Claim, Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.bow import STRUCTURES, BowConfig, window_events, window_probes

_PASS = "warpfile.compiler.passes.bow.annotate"
_FORMAL = "tests.formal.collectors.bow"

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
    hints=Hints(f"{_PASS}:annotate", f"{_PASS}:label", ("write_class",), {"write_class": f"{_PASS}:classes"}),
    harness="warpfile.sim.poison:window_poison",
    harness_wants=(STAYING,),
    harness_checks="rows of values that were given up are not poisoned",
    reached=(
        *("bypassed_reads", "late_results", "refusals", "victims", "stall_slot"),
        *("stall_entry", "stall_write_after_read"),
    ),
    accesses={
        "window_read": ("window_reads",),
        "window_write": ("window_writes",),
        "window_tag": ("bypassed_reads", "bank_reads", "results"),
    },
    prices="bow",
    hits=Hits("operands found in a window", ("bypassed_reads",), ("bypassed_reads", "bank_reads")),
    offers=(LOOKED_UP_ONE_BY_ONE,),
    wants_one=(AT_ONCE, RENAMED),
    proofs=tuple(f"{_FORMAL}.{name}:PROOFS" for name in ("windows", "results", "slots", "entries")),
)

_WRITING_BACK = (
    *("bypassed_writes", "saved_writes", "evictions", "discards", "victims_transient", "dropped_results"),
    *("late_bank_writes", "stall_evict", "class_0", "class_1", "class_2", "class_3"),
)
#: The design point of the dissertation: six entries instead of the twelve that three instructions may need.
_HALF_SIZE = {"window_entries": 6}


def _claims(share: float, size: str, per_bit: str) -> tuple[Claim, ...]:
    """The dissertation's figures for windows of one size; ``per_bit``: the area that it leaves them."""
    return (
        Claim(
            "storage over the baseline, of the register file",
            share,
            f"dissertation, section 3.5: {size} of 256 KB",
            "storage over the baseline",
            why="with tags, slots and wider instruction buffers, which the paper leaves out",
        ),
        Claim(
            "area over the baseline, of the register file",
            0.001,
            "dissertation, section 3.5: 0.04 mm2 of crossbar, windows, arbiters, bus",
            "area over the baseline",
            why=f"operands in flip-flops behind multiplexers; 0.04 mm2 leaves {per_bit} um2 per bit of the paper's"
            " windows, and its 32 banks of 1.72 mm2 have 26 um2 per bit",
        ),
    )


PARTS = (BOW,)
SCHEMES = (
    Scheme(
        name="bow",
        summary="operand windows: one per warp, results forwarded and written through",
        preset="pascal",
        collectors=BOW,
        rf=BANKED,
        settings={"": {"window_writes": "through"}},
        claims=_claims(0.14, "36 KB", "0.1"),
        setups=(
            Setup("pascal"),
            Setup("tiny"),
            Setup("tiny", {"window": 2, "window_entries": 3, "bank_ports": "1R1W", "bank_cycles": 2}, ()),
        ),
        study="warpfile.pages.evidence.bow",
        survivors="warpfile.schemes:survivors/bow.toml",
    ),
    Scheme(
        name="bow_wr",
        summary="operand windows: results written back, or not, as the compiler says",
        preset="pascal",
        collectors=BOW,
        rf=BANKED,
        settings={"": {"window_writes": "hints"}},
        reached=_WRITING_BACK,
        point=_HALF_SIZE,
        claims=_claims(0.047, "half size, 12 KB", "0.2"),
        setups=(
            Setup("pascal"),
            Setup("pascal", {"window_entries": 6}),
            Setup("tiny"),
            Setup("tiny", {"window_writes": "back", "window": 2, "window_entries": 3}, ()),
            Setup("pascal", {"lanes": 1, "window": 7, "window_entries": 28, "bank_ports": "1R1W"}, ()),
        ),
    ),
)
