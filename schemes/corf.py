"""``packing``, ``virtualization``, ``corf``, ``corf_plus``: narrow values share rows (docs/schemes/corf.md)."""

from warpfile.schemes.part import EVICTIONS, LOOKED_UP_ONE_BY_ONE, RENAMED, RENAMING, Hints, Hits, Part
from warpfile.schemes.row import Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.coalescing import STRUCTURES as UNIT_STRUCTURES
from warpfile.spec.schemes.coalescing import CoalescingConfig, coalescing_events, coalescing_probes
from warpfile.spec.schemes.packed import STRUCTURES, PackedConfig, packed_events, packed_probes
from warpfile.spec.structure import BANK_RAM, RENAMING_RAM

_KILLS = "warpfile.compiler.passes.coalescing.annotate"
_METADATA = "warpfile.compiler.passes.packed.annotate"

COALESCING = Part(
    name="coalescing",
    slot="collectors",
    summary="collector units that read two sources at once and say which registers are dead",
    golden="warpfile.golden.collectors.coalescing.collectors:Coalescing",
    rtl="warpfile.hdl.collectors.coalescing.collectors:Coalescing",
    parameters=CoalescingConfig,
    probes=coalescing_probes,
    events=coalescing_events,
    structures=UNIT_STRUCTURES,
    hints=Hints(f"{_KILLS}:annotate", f"{_KILLS}:label", writes=("kill",), shown={"dead": f"{_KILLS}:shown"}),
    accesses={"collector_write": ("bank_reads",), "collector_read": ("bank_reads",)},
    reached=("look_up_waits", "unmapped_reads"),
    offers=(LOOKED_UP_ONE_BY_ONE,),
    wants=(RENAMED,),
)
PACKED = Part(
    name="packed",
    slot="rf",
    summary="banks in which narrow values share rows, behind a renaming table",
    golden="warpfile.golden.rf.packed.file:PackedFile",
    rtl="warpfile.hdl.rf.packed.file:PackedFile",
    parameters=PackedConfig,
    probes=packed_probes,
    events=packed_events,
    structures=STRUCTURES,
    hints=Hints(f"{_METADATA}:annotate", f"{_METADATA}:label", shown={"packing": f"{_METADATA}:shown"}),
    accesses={
        "bank_read": ("bank_reads", "merges"),
        "bank_write": ("bank_writes",),
        "crossbar": ("bank_reads", "bank_writes", "merges"),
        "renaming": ("table_reads", "table_writes"),
    },
    rams={BANK_RAM: (("bank_reads", "merges"), ("bank_writes",)), RENAMING_RAM: (("table_reads",), ("table_writes",))},
    prices="corf",
    hits=Hits("operands that came with the access of another one", ("coalesced",), ("coalesced", "bank_reads")),
    reached=("allocations", "in_place", "table_waits", "swept_registers"),
    offers=(RENAMED, EVICTIONS),
    wants=(LOOKED_UP_ONE_BY_ONE,),
    owns=(RENAMING,),
    proofs=tuple(f"tests.formal.rf.packed.{name}:PROOFS" for name in ("values", "places", "ports", "results", "sweep")),
)


def _scheme(name: str, summary: str, of: str = "", /, **settings: object) -> Scheme:
    return Scheme(
        name=name,
        summary=summary,
        preset="fermi",
        study="warpfile.pages.evidence.corf" if name == "corf" else "",  # the page has all of them
        collectors=COALESCING,
        rf=PACKED,
        settings={"": settings},
        survivors="" if of else f"warpfile.schemes:survivors/{name}.toml",
        setups=() if of else (*_setups(), *(one for other in _VARIANTS[name] for one in _setups(other))),
        variant_of=of,
    )


def _setups(machine: str = "") -> tuple[Setup, ...]:
    """Configurations of the regression; of variants the scheme's regression has them."""
    small = Setup("tiny", {"banks": 4, "source_slots": 3}, (), machine)
    return Setup("fermi", machine=machine), Setup("tiny", machine=machine), small


_ROWS: dict[str, object] = {"coalescing": "row"}
_PAIRS = {**_ROWS, "allocation": "pairs"}
_SIDES: dict[str, object] = {"coalescing": "planes", "allocation": "sides"}
_SINGLE: dict[str, object] = {"coalescing": "none"}
_VIRTUAL = {"virtualization": 1}
_VARIANTS = {
    "corf": (
        *("virtualization", "packing", "packing_virtual", "first_fit", "first_fit_virtual"),
        *("corf_virtual", "corf_single"),
    ),
    "corf_plus": ("corf_plus_virtual", "corf_plus_single"),
}

PARTS = (COALESCING, PACKED)
SCHEMES = (
    _scheme("corf", "pairs of registers that are often read together share a row and come with one access", **_PAIRS),
    _scheme("corf_plus", "registers have sides of their rows, and any two rows of a bank come at once", **_SIDES),
    _scheme("virtualization", "a renaming table gives rows of dead registers to others", "corf", packing=0, **_VIRTUAL),
    _scheme("packing", "narrow values share rows, the first that fits", "corf"),
    _scheme("packing_virtual", "narrow values share rows, and those of dead registers are free", "corf", **_VIRTUAL),
    _scheme("first_fit", "packing; two sources that happen to be in one row come with one access", "corf", **_ROWS),
    _scheme("first_fit_virtual", "the same with dead registers free", "corf", **_ROWS, **_VIRTUAL),
    _scheme("corf_virtual", "corf as the paper has it: dead registers free, too", "corf", **_PAIRS, **_VIRTUAL),
    _scheme("corf_single", "the places of corf, every source read by itself", "corf", **(_PAIRS | _SINGLE)),
    _scheme(
        "corf_plus_virtual",
        "corf_plus as the paper has it: dead registers free, too",
        "corf_plus",
        **_SIDES,
        **_VIRTUAL,
    ),
    _scheme(
        "corf_plus_single", "the places of corf_plus, every source read by itself", "corf_plus", **(_SIDES | _SINGLE)
    ),
)
