"""``regmutex``, ``regmutex_paired``: registers that warps borrow from a pool (docs/schemes/regmutex.md)."""

from warpfile.schemes.baseline import BANKED, UNITS
from warpfile.schemes.part import STAYING, Hints, Part
from warpfile.schemes.row import Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.regmutex import STRUCTURES, RegMutexConfig, regmutex_events, regmutex_probes

_PASS = "warpfile.compiler.passes.regmutex.annotate"

REGMUTEX = Part(
    name="regmutex",
    slot="rf",
    summary="a pool of extended registers that warps borrow and give back",
    golden="warpfile.golden.rf.regmutex.file:RegMutexFile",
    rtl="warpfile.hdl.rf.regmutex.file:RegMutexFile",
    parameters=RegMutexConfig,
    probes=regmutex_probes,
    events=regmutex_events,
    structures=STRUCTURES,
    hints=Hints(f"{_PASS}:annotate", f"{_PASS}:label", shown={"extended set": f"{_PASS}:shown"}),
    reached=(
        "acq_ok",
        "acq_nop",
        "acq_fail",
        "rel_ok",
        "rel_nop",
        "acq_wait_cycles",
        "rel_drain_stall",
        "extended_accesses",
        "base_accesses",
    ),
    proofs=("tests.formal.rf.regmutex.sections:PROOFS", "tests.formal.rf.regmutex.places:PROOFS"),
    accesses=BANKED.accesses,
    rams=BANKED.rams,
    prices="corf",  # of the same dissertation, which has none in its chapter on RegMutex
    # A register behind the base set moves with every section that its warp takes.
    offers=tuple(offer for offer in BANKED.offers if offer != STAYING),
)

#: Its file under other collectors and schedulers.
COMBINED = ("bow+regmutex", "bow_wr+regmutex", "malekeh+regmutex", "regmutex+two_level")
_HALF = {"rows": 32}
_PAIRS = {"sharing": "pairs"}

PARTS = (REGMUTEX,)
SCHEMES = (
    Scheme(
        name="regmutex",
        summary="base sets for life, and sections of a shared pool of registers between ACQ and REL",
        preset="fermi_linear",
        collectors=UNITS,
        rf=REGMUTEX,
        study="warpfile.pages.evidence.regmutex",
        survivors="warpfile.schemes:survivors/regmutex.toml",
        setups=(
            Setup("fermi_linear"),
            Setup("fermi_linear", _HALF),
            Setup("tiny"),
            Setup("tiny", {"fair": 1, "bank_cycles": 2}, ()),
            Setup("tiny", {"es_rule": "max_pass", "bank_ports": "1R1W", "collect": "all"}, ()),
            *(Setup("tiny", {}, (), name) for name in COMBINED),
        ),
    ),
    Scheme(
        name="regmutex_paired",
        summary="base sets for life, and one section of registers for each two neighbouring warps",
        preset="fermi_linear",
        collectors=UNITS,
        rf=REGMUTEX,
        settings={"": _PAIRS},
        survivors="warpfile.schemes:survivors/regmutex_paired.toml",
        setups=(
            Setup("fermi_linear"),
            Setup("fermi_linear", _HALF),
            Setup("tiny"),
            Setup("tiny", {"pair_state": "pair", "bank_cycles": 2}, ()),
        ),
    ),
)
