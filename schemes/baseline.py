"""Single-level schedulers, collector units, banks, and the scheme that is made of them."""

from warpfile.schemes.part import (
    AT_ONCE,
    ENGINES,
    LOOK_UPS,
    LOOKED_UP_LATER,
    NEAR,
    OWNERS_FIRST,
    RESULT_BANKS,
    STAYING,
    Part,
    RamCounters,
)
from warpfile.schemes.row import Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.units import STRUCTURES, stage_events, stage_probes
from warpfile.spec.structure import BANK_RAM

TURING_NM = 12  #: NVIDIA Turing GPU Architecture whitepaper (2018): TSMC 12 nm FFN
BANK_ACCESSES = {
    "bank_read": ("bank_reads",),
    "bank_write": ("bank_writes",),
    "crossbar": ("bank_reads", "bank_writes"),
}  #: Launches of the kernels, where the regression runs more than the small one.
#: Counters of the reads and of the writes of the banks.
BANK_COUNTERS: dict[str, RamCounters] = {BANK_RAM: (("bank_reads",), ("bank_writes",))}
_SETTINGS: dict[str, tuple[str, ...]] = dict.fromkeys(("turing", "fermi"), ("launch", "large"))

GTO = Part(
    name="gto",
    slot="scheduler",
    summary="the last issuer as long as it can, then the warp that was launched first",
    golden="warpfile.golden.scheduler.policy:Gto",
    rtl="warpfile.hdl.scheduler.policy:Gto",
)
LRR = Part(
    name="lrr",
    slot="scheduler",
    summary="loose round robin",
    golden="warpfile.golden.scheduler.policy:Lrr",
    rtl="warpfile.hdl.scheduler.policy:Lrr",
)
OLDEST = Part(
    name="oldest",
    slot="scheduler",
    summary="the warp that was launched first",
    golden="warpfile.golden.scheduler.policy:Oldest",
    rtl="warpfile.hdl.scheduler.policy:Oldest",
    offers=(OWNERS_FIRST,),
)
UNITS = Part(
    name="units",
    slot="collectors",
    summary="collector units that hold the operands of one beat each",
    golden="warpfile.golden.collectors.units.collectors:Units",
    rtl="warpfile.hdl.collectors.units.collectors:Units",
    probes=stage_probes,
    events=stage_events,
    structures=STRUCTURES,
    accesses={"collector_write": ("bank_reads",), "collector_read": ("bank_reads",)},
    offers=(LOOKED_UP_LATER, NEAR),
    proofs=("tests.formal.collectors.units.collector:PROOFS",),
)
BANKED = Part(
    name="banked",
    slot="rf",
    summary="banks; a register's place is its warp's base and its number",
    golden="warpfile.golden.rf.banked.file:BankedFile",
    rtl="warpfile.hdl.rf.banked.file:BankedFile",
    accesses=BANK_ACCESSES,
    rams=BANK_COUNTERS,
    offers=(AT_ONCE, LOOK_UPS, RESULT_BANKS, ENGINES, STAYING),
    proofs=tuple(f"tests.formal.rf.{name}:PROOFS" for name in ("banks", "matching", "lengths", "location")),
)

PARTS = (GTO, LRR, OLDEST, UNITS, BANKED)
SCHEMES = (
    Scheme(
        name="baseline",
        summary="banked single-port register file with operand collector units, scoreboard, GTO or LRR",
        preset="turing",
        collectors=UNITS,
        rf=BANKED,
        reached=("issue_room",),
        node_nm=TURING_NM,
        setups=tuple(Setup(name, settings=_SETTINGS.get(name, ("launch",))) for name in PRESETS),
        survivors="warpfile.schemes:survivors/baseline.toml",
    ),
)
