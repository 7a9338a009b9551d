"""``malekeh``: caching collector units (docs/schemes/malekeh.md)."""

from warpfile.schemes.baseline import BANKED, TURING_NM
from warpfile.schemes.part import AT_ONCE, OWNERS_FIRST, Hints, Hits, Part
from warpfile.schemes.row import Claim, Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.malekeh import COUNTERS, STRUCTURES, MalekehConfig, unit_events, unit_probes

_PASS = "warpfile.compiler.passes.malekeh.annotate"
_FORMAL = "tests.formal.collectors.malekeh"

MALEKEH = Part(
    name="malekeh",
    slot="collectors",
    summary="caching collector units: owners first, near registers kept, bounded wait",
    golden="warpfile.golden.collectors.malekeh.collectors:CachingCollectors",
    rtl="warpfile.hdl.collectors.malekeh.collectors:CachingCollectors",
    parameters=MalekehConfig,
    probes=unit_probes,
    events=unit_events,
    settings={"": {"scheduler": "oldest"}, "tiny": {"unit_entries": 4, "interval": 64}},
    structures=STRUCTURES,
    hints=Hints(
        f"{_PASS}:annotate",
        f"{_PASS}:label",
        ("near_dests", "near_sources"),
        {"near (sources, dests)": f"{_PASS}:near"},
    ),
    reached=tuple(COUNTERS),
    accesses={
        "unit_write": ("bank_reads", "cached_results"),
        "unit_read": ("sources",),
        "unit_tag": ("sources", "bank_writes"),
    },
    hits=Hits("operands found in a collector unit", ("source_hits",), ("sources",)),
    wants=(AT_ONCE, OWNERS_FIRST),
    defines=("scheduler", "collect"),
    proofs=tuple(f"{_FORMAL}.{name}:PROOFS" for name in ("parts", "waits", "sources", "units")),
)

PARTS = (MALEKEH,)
SCHEMES = (
    Scheme(
        name="malekeh",
        summary="caching collector units: owners first, near registers kept, bounded wait",
        preset="turing",
        collectors=MALEKEH,
        rf=BANKED,
        node_nm=TURING_NM,
        claims=(
            Claim(
                "new bits, of the register file",
                128 / 262_144,
                "section 9.4: 128 B of 256 KB, printed as 0.04 %",
                "bits",
                ("tags", "locks", "near bits", "order of use", "entry of each source slot"),
            ),
            Claim(
                "area over the baseline, of the register file",
                128 / 262_144,
                "section 9.4 counts storage alone",
                "area over the baseline",
                why="each of eight operands is chosen among eight entries, where the baseline has a register per"
                " operand",
            ),
        ),
        setups=(
            Setup("turing"),
            Setup("turing", {"reuse_hints": "static"}),
            Setup("tiny"),
            Setup("tiny", {"collectors": 1, "unit_entries": 2, "wait_control": "fixed", "wait_threshold": 5}, ()),
            Setup("pascal", {"lanes": 1, "interval": 128, "bank_cycles": 2}, ()),
        ),
        study="warpfile.pages.evidence.malekeh",
        survivors="warpfile.schemes:survivors/malekeh.toml",
    ),
)
