"""``pilot``: banks with a fast and a slow part, swapping table, pilot warp (docs/schemes/pilot.md)."""

from warpfile.schemes.baseline import BANKED, UNITS
from warpfile.schemes.part import Hints, Hits, Part
from warpfile.schemes.row import Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.pilot import STRUCTURES, PilotConfig, pilot_events, pilot_probes
from warpfile.spec.structure import BANK_RAM

_PASS = "warpfile.compiler.passes.pilot.annotate"
_MOVED = ("migrated_pairs", "migrated_pairs")
_FAST = ("fast_reads_high", "fast_reads_low")

PILOT = Part(
    name="pilot",
    slot="rf",
    summary="banks with a fast part for the registers that are used most, found by a pilot warp",
    golden="warpfile.golden.rf.pilot.file:PilotFile",
    rtl="warpfile.hdl.rf.pilot.file:PilotFile",
    parameters=PilotConfig,
    probes=pilot_probes,
    events=pilot_events,
    settings={"tiny": {"fast_registers": 2, "epoch": 8, "epoch_threshold": 1}},
    structures=STRUCTURES,
    hints=Hints(f"{_PASS}:annotate", f"{_PASS}:label", shown={"hot registers": f"{_PASS}:shown"}),
    reached=(
        "fast_reads_high",
        "fast_reads_low",
        "fast_writes_high",
        "fast_writes_low",
        "slow_reads",
        "slow_writes",
        "table_hits",
        "epochs_high",
        "epochs_low",
        "pilot_accesses",
        "warps_old_map",
        "warps_new_map",
        "bank_busy_stall",
        "lists_kept",
        "migrated_pairs",
        "moves_fast_low",
    ),
    accesses={
        **dict.fromkeys(("bank_read", "bank_write"), ()),  # every access is that of one part
        "fast_high": ("fast_reads_high", "fast_writes_high", "moves_fast_high"),
        "fast_low": ("fast_reads_low", "fast_writes_low", "moves_fast_low"),
        "slow": ("slow_reads", "slow_writes", "moves_slow"),
        "swap_table": ("table_lookups",),
        "crossbar": BANKED.accesses["crossbar"],
    },
    # A pair that moves is two registers that are read and written.
    rams={BANK_RAM: (("bank_reads", *_MOVED), ("bank_writes", *_MOVED))},
    prices="pilot",
    hits=Hits("operands read from the fast part", _FAST, (*_FAST, "slow_reads")),
    offers=BANKED.offers,
    proofs=tuple(f"tests.formal.rf.pilot.{name}:PROOFS" for name in ("tables", "kernels", "moves")),
)

PARTS = (PILOT,)
SCHEMES = (
    Scheme(
        name="pilot",
        summary="partitioned banks: hot registers in a fast part, by compiler and pilot warp",
        preset="kepler",
        collectors=UNITS,
        rf=PILOT,
        study="warpfile.pages.evidence.pilot",
        survivors="warpfile.schemes:survivors/pilot.toml",
        setups=(
            Setup("kepler"),
            Setup("tiny"),
            Setup("tiny", {"profile": "pilot", "bank_ports": "1R1W", "collect": "all", "slow_cycles": 4}, ()),
            Setup("tiny", {"profile": "oracle", "collect": "one", "bank_arbitration": "oldest"}, ()),
            Setup("kepler", {"bank_occupancy": "one"}),
            Setup("tiny", {"bank_occupancy": "one", "collect": "one", "bank_arbitration": "oldest"}, ()),
            Setup("kepler", {"remap": "migrate"}),
            Setup("tiny", {"remap": "migrate", "bank_ports": "1R1W", "collect": "all"}, ()),
            Setup("tiny", {"remap": "migrate", "rename_latency": 1, "profile": "pilot", "bank_cycles": 2}, ()),
            Setup("tiny", {"rename_latency": 1, "collect": "all"}, ()),
            *(Setup("tiny", {}, (), f"{name}+pilot") for name in ("bow", "bow_wr", "malekeh")),
            *(Setup("tiny", changes, (), "pilot+two_level") for changes in ({}, {"remap": "migrate"})),
            Setup("tiny", {"remap": "migrate"}, (), "malekeh+pilot"),
        ),
    ),
)
