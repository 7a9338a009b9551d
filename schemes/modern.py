"""``modern``: two banks, a read window, a reuse cache and issue by control codes (docs/schemes/modern.md)."""

from warpfile.schemes.baseline import BANK_COUNTERS, TURING_NM
from warpfile.schemes.part import Hints, Hits, Part
from warpfile.schemes.row import Claim, Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.modern import STRUCTURES, ReadWindowConfig, window_events, window_probes
from warpfile.spec.schemes.ported import PortedConfig

PLANNED = "banks whose reads are planned ahead"
PLANNING = "collectors that plan every read ahead"
_PASS = "warpfile.compiler.passes.modern.annotate"
#: Presets for code of sm_80 and later, with the GPU whose latencies they have.
_NEWER = {"ampere": 86, "ada": 89, "hopper": 90, "blackwell": 120}

CGGTY = Part(
    name="cggty",
    slot="scheduler",
    summary="the last issuer as long as it can, then the warp that was launched last",
    golden="warpfile.golden.scheduler.policy:Cggty",
    rtl="warpfile.hdl.scheduler.policy:Cggty",
)
READ_WINDOW = Part(
    name="read_window",
    slot="collectors",
    summary="no units: a beat reads in a window of cycles, and the compiler's codes say when it may issue",
    golden="warpfile.golden.collectors.read_window.collectors:ReadWindow",
    rtl="warpfile.hdl.collectors.read_window.collectors:ReadWindow",
    parameters=ReadWindowConfig,
    probes=window_probes,
    events=window_events,
    settings={
        "": {"decode_order": "follow", "buffer_depth": 3},
        "turing": {"codes_for": 75},
        "turing_rfc": {"codes_for": 75, "unit_interval": 2},
        **{name: {"codes_for": gpu, "variable_delay": 6} for name, gpu in _NEWER.items()},
        "tiny": {"lsu_queue": 2, "sfu_queue": 1},
    },
    structures=STRUCTURES,
    hints=Hints(
        f"{_PASS}:annotate",
        f"{_PASS}:label",
        ("positions",),
        {"codes (kind, stall, set, wait)": f"{_PASS}:codes"},
        "warpfile.compiler.passes.modern.latency_check:lines",
        f"{_PASS}:remark",
    ),
    accesses={"rfc_read": ("rfc_hits",), "rfc_write": ("rfc_allocations",), "rfc_tag": ("fixed_sources",)},
    hits=Hits("operands at fixed positions found in the reuse cache", ("rfc_hits",), ("fixed_sources",)),
    reached=("freezes", "forwards", "rfc_hits", "rfc_kills", "duplicates", "queue_waits"),
    offers=(PLANNING,),
    wants=(PLANNED,),
    defines=("port_queue",),
    proofs=("tests.formal.collectors.read_window.parts:PROOFS",),
)
PORTED = Part(
    name="ported",
    slot="rf",
    summary="two banks with a write port and some read ports; who reads has planned it, so there is no arbiter",
    golden="warpfile.golden.rf.ported.file:PortedFile",
    rtl="warpfile.hdl.rf.ported.file:PortedFile",
    parameters=PortedConfig,
    accesses={"bank_read": ("bank_reads",), "bank_write": ("bank_writes",)},
    rams=BANK_COUNTERS,
    offers=(PLANNED,),
    wants=(PLANNING,),
)

_FILE_BITS = 256 * 1024 * 8
_CLAIMS = (
    Claim(
        "bits of stall counts, yields and dependence counters, of the register file",
        48 * 41 / _FILE_BITS,
        "section 7.5: 41 bits per warp, 1,968 per SM, 0.09 %",
        "bits",
        ("stall, yield, dependence counters",),
        "32 warps per SM, not 48",
    ),
    Claim(
        "bits of the reuse cache, of the register file",
        4 * 6 * 1024 / _FILE_BITS,
        "section 5.3.1: an entry for each of three operands and two banks, in every sub-core",
        "bits",
        ("reuse cache",),
    ),
)

PARTS = (CGGTY, READ_WINDOW, PORTED)
SCHEMES = (
    Scheme(
        name="modern",
        summary="two banks, a read window, a reuse cache driven by the compiler, issue by control codes",
        preset="turing_rfc",
        scheduler=CGGTY,
        collectors=READ_WINDOW,
        rf=PORTED,
        node_nm=TURING_NM,
        claims=_CLAIMS,
        study="warpfile.pages.evidence.modern",
        survivors="warpfile.schemes:survivors/modern.toml",
        setups=(
            Setup("turing_rfc"),
            Setup("turing_rfc", {"dependences": "scoreboard"}),
            Setup("turing_rfc", {"read_ports": 2, "reuse_cache": "off"}),
            *map(Setup, _NEWER),
            Setup("tiny"),
            Setup("tiny", {"dependences": "scoreboard", "read_ports": 2, "reuse_cache": "off"}, ()),
            Setup("tiny", {"read_window": 4, "variable_delay": 6, "unit_interval": 2}, ()),
            Setup("tiny", {}, (), "modern+gto"),
            Setup("tiny", {}, (), "baseline+cggty"),
        ),
    ),
)
