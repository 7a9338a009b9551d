"""``shrf``: register hierarchy that the compiler manages (docs/schemes/shrf.md)."""

from warpfile.schemes.baseline import BANK_ACCESSES, BANK_COUNTERS, UNITS
from warpfile.schemes.part import NEAR, RESIDENCY, Hints, Hits, Part
from warpfile.schemes.row import Setup
from warpfile.schemes.scheme import Scheme
from warpfile.schemes.two_level import FIELDS
from warpfile.spec.schemes.shrf import COUNTERS, STRUCTURES, ShrfConfig, level_events, level_probes

_PASS = "warpfile.compiler.passes.shrf.annotate"

SHRF = Part(
    name="shrf",
    slot="rf",
    summary="a few entries per warp that may issue, which the compiler allocates, beside the banks",
    golden="warpfile.golden.rf.shrf.file:LeveledFile",
    rtl="warpfile.hdl.rf.shrf.file:LeveledFile",
    parameters=ShrfConfig,
    probes=level_probes,
    events=level_events,
    settings={
        "": {"scheduler": "two_level", "suspend": "strands", "resume": "all"},
        "tiny": {"active_warps": 2, "orf_entries": 2},
    },
    structures=STRUCTURES,
    hints=Hints(
        f"{_PASS}:annotate",
        f"{_PASS}:label",
        ("suspend", "source_entry", "bring", "result_entry", "mrf_skipped"),
        {"begins, source entries, brings, result entry, MRF skipped": f"{_PASS}:shown"},
    ),
    reached=("bank_reads", "unit_cycles", *COUNTERS),
    accesses={
        **BANK_ACCESSES,
        "orf_read": ("orf_reads",),
        "orf_write": ("orf_writes", "brings"),
        "lrf_read": ("lrf_reads",),
        "lrf_write": ("lrf_writes",),
        "collector_write": ("bank_reads", "orf_reads", "lrf_reads"),
        "collector_read": ("bank_reads", "orf_reads", "lrf_reads"),
    },
    prices="rfc",
    rams=BANK_COUNTERS,
    hits=Hits("operands read near", ("orf_reads", "lrf_reads"), ("orf_reads", "lrf_reads", "bank_reads")),
    wants=(NEAR,),
    owns=(RESIDENCY,),
    defines=FIELDS,
    proofs=("tests.formal.rf.shrf.parts:PROOFS",),
)

PARTS = (SHRF,)
SCHEMES = (
    Scheme(
        name="shrf",
        summary="register hierarchy that the compiler manages: operand and last-result file per active warp",
        preset="isca2011",
        collectors=UNITS,
        rf=SHRF,
        study="warpfile.pages.evidence.shrf",
        survivors="warpfile.schemes:survivors/shrf.toml",
        setups=(
            Setup("isca2011"),
            Setup("tiny"),
            Setup("tiny", {"lrf": "one", "suspend": "pending"}, ()),
            Setup("tiny", {"lrf": "none", "bank_ports": "1R1W", "bank_cycles": 2}, ()),
            Setup("tiny", {"orf_entries": 0, "lrf": "split"}, ()),
            Setup("turing", {"collectors": 4, "lrf": "none"}, machine="shrf+gto"),
            Setup("tiny", {"lrf": "one"}, (), "shrf+cggty"),
        ),
    ),
)
