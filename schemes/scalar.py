"""``scalar``: registers whose lanes hold one word are in a bank of words (docs/schemes/scalar.md)."""

from warpfile.schemes.baseline import TURING_NM, UNITS
from warpfile.schemes.part import AT_ONCE, Part
from warpfile.schemes.row import Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.scalar import STRUCTURES, ScalarConfig, scalar_events, scalar_probes
from warpfile.spec.structure import BANK_RAM, SCALAR_RAM

SCALAR = Part(
    name="scalar",
    slot="rf",
    summary="a register whose lanes hold one word is in a bank of words beside its bank",
    golden="warpfile.golden.rf.scalar.file:ScalarFile",
    rtl="warpfile.hdl.rf.scalar.file:scalar_file",
    parameters=ScalarConfig,
    probes=scalar_probes,
    events=scalar_events,
    structures=STRUCTURES,
    reached=("scalar_reads", "scalar_writes", "expansions", "expansion_wait_cycles", "scalar_register_cycles"),
    accesses={
        "bank_read": ("vector_reads",),
        "bank_write": ("vector_writes", "expansions"),
        "scalar_read": ("scalar_reads", "expansions"),
        "scalar_write": ("scalar_writes",),
        "crossbar": ("vector_reads", "vector_writes"),
    },
    rams={
        BANK_RAM: (("vector_reads",), ("vector_writes", "expansions")),
        SCALAR_RAM: (("scalar_reads", "expansions"), ("scalar_writes",)),
    },
    offers=(AT_ONCE,),
    proofs=tuple(f"tests.formal.rf.scalar.{name}:PROOFS" for name in ("parts", "bits", "values")),
)

PARTS = (SCALAR,)
SCHEMES = (
    Scheme(
        name="scalar",
        summary="registers whose lanes hold one word are read from and written to banks of words",
        preset="turing",
        node_nm=TURING_NM,
        collectors=UNITS,
        rf=SCALAR,
        setups=(
            Setup("turing"),
            Setup("fermi"),
            Setup("tiny"),
            Setup("tiny", {"bank_cycles": 2}, ()),
            Setup("tiny", {"bank_ports": "1R1W"}, ()),
        ),
    ),
)
