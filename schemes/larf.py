"""``larf``: loads of words that are in the register file already; ``las`` prefers them (docs/schemes/larf.md)."""

from warpfile.schemes.corf import COALESCING
from warpfile.schemes.part import LOOKAHEAD, LOOKED_UP_ONE_BY_ONE, RENAMED, RENAMING, Hints, Hits, Part
from warpfile.schemes.row import Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.las import LasConfig, flag_events, flag_probes
from warpfile.spec.schemes.shared import STRUCTURES, SharedConfig, shared_events, shared_probes
from warpfile.spec.structure import BANK_RAM, RENAMING_RAM

_PASS = "warpfile.compiler.passes.shared.annotate"
_HITS = ("hits_perfect", "hits_single", "hits_double")

SHARED = Part(
    name="shared",
    slot="rf",
    summary="rows that registers of several warps share where they hold the same loaded words",
    golden="warpfile.golden.rf.shared.file:SharedFile",
    rtl="warpfile.hdl.rf.shared.file:SharedFile",
    parameters=SharedConfig,
    probes=shared_probes,
    events=shared_events,
    settings={"tiny": {"table_entries": 8, "absorbed_loads": 2}},
    structures=STRUCTURES,
    hints=Hints(
        f"{_PASS}:annotate",
        f"{_PASS}:label",
        writes=("access", "address_registers", "access_size", "address_offset"),
    ),
    accesses={
        "bank_read": ("bank_reads", "merges", "merge_reads"),
        "bank_write": ("bank_writes", "merge_writes"),
        "crossbar": ("bank_reads", "bank_writes", "merges", "merge_reads", "merge_writes"),
        "renaming": ("table_reads", "table_writes"),
    },
    rams={
        BANK_RAM: (("bank_reads", "merges", "merge_reads"), ("bank_writes", "merge_writes")),
        RENAMING_RAM: (("table_reads",), ("table_writes",)),
    },
    hits=Hits("loads of words that are in the register file", _HITS, (*_HITS, "misses")),
    proofs=("tests.formal.rf.shared.parts:PROOFS",),
    reached=("allocations", "renewals", "misses", "hits_perfect", "table_evictions", "table_deletions"),
    offers=(RENAMED, LOOKAHEAD),
    wants=(LOOKED_UP_ONE_BY_ONE,),
    owns=(RENAMING,),
)

LAS = Part(
    name="las",
    slot="scheduler",
    summary="loose round robin among warps whose next load is in the register file, then among all",
    golden="warpfile.golden.scheduler.las.scheduler:Las",
    rtl="warpfile.hdl.scheduler.las.scheduler:Las",
    parameters=LasConfig,
    probes=flag_probes,
    events=flag_events,
    accesses={"bank_read": ("las_reads",), "crossbar": ("las_reads",)},
    rams={BANK_RAM: (("las_reads",), ())},
    reached=("las_reads", "las_probes", "las_hits", "las_issues"),
    wants=(LOOKAHEAD,),
)

PASCAL_NM = 16  #: NVIDIA Tesla P100 whitepaper (2016), of the same family as GP102: TSMC 16 nm FinFET
_COSTED = {"table_entries": 98}  # the size that the paper states in bits

PARTS = (SHARED, LAS)
SCHEMES = (
    Scheme(
        name="larf",
        study="warpfile.pages.evidence.larf",
        summary="a load of words that are in the register file is mapped to them, or merged of them",
        preset="pascal_larf",
        collectors=COALESCING,
        rf=SHARED,
        node_nm=PASCAL_NM,
        point=_COSTED,
        survivors="warpfile.schemes:survivors/larf.toml",
        setups=(
            Setup("pascal_larf"),
            Setup("pascal_larf", _COSTED, ()),
            Setup("pascal_larf", {"table_entries": 200}, ()),  # that of its smaller machine
            Setup("tiny"),
            Setup("tiny", {"lanes": 8, "source_slots": 3, "banks": 4, "merge_wait": 0}, ()),
            Setup("pascal_larf", _COSTED, machine="larf_perfect"),
            Setup("tiny", machine="larf_perfect"),
            Setup("pascal_larf", _COSTED, machine="larf+las"),
            Setup("tiny", machine="larf+las"),
        ),
    ),
    Scheme(
        name="larf_perfect",
        summary="larf without merges",
        preset="pascal_larf",
        collectors=COALESCING,
        rf=SHARED,
        settings={"": {"search": "perfect"}},
        variant_of="larf",
    ),
)
