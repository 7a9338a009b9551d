"""``owf``: two CTAs share registers, and the warps that own them issue first (docs/schemes/owf.md)."""

from warpfile.schemes.baseline import BANKED, UNITS
from warpfile.schemes.part import RANKS, STAYING, Hints, Part
from warpfile.schemes.row import Setup
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.owf import STRUCTURES, OwfConfig, owner_events, owner_probes

_PASS = "warpfile.compiler.passes.owf.annotate"

OWF = Part(
    name="owf",
    slot="rf",
    summary="a part of a warp's registers is shared with a warp of another CTA; one of the two owns it",
    golden="warpfile.golden.rf.owf.file:OwfFile",
    rtl="warpfile.hdl.rf.owf.file:OwfFile",
    parameters=OwfConfig,
    probes=owner_probes,
    events=owner_events,
    settings={"tiny": {"warps": 8}},  # room for two CTAs of three or four warps
    structures=STRUCTURES,
    hints=Hints(f"{_PASS}:annotate", f"{_PASS}:label", shown={"new register number": f"{_PASS}:shown"}),
    reached=(
        "owners_taken",
        "owner_cycles",
        "owner_wait_cycles",
        "paired_cycles",
        "shared_accesses",
        "private_accesses",
    ),
    proofs=("tests.formal.rf.owf.owners:PROOFS", "tests.formal.rf.owf.places:PROOFS"),
    accesses=BANKED.accesses,
    prices="corf",  # of the dissertation whose comparison is repeated; its paper has none
    rams=BANKED.rams,
    # A shared register's row has the partner's value until the warp is the owner.
    offers=(*(offer for offer in BANKED.offers if offer != STAYING), RANKS),
)
OWNERS_FIRST = Part(
    name="owners_first",
    slot="scheduler",
    summary="owners as by gto, then warps without a partner, then warps that may have to wait for their partner",
    golden="warpfile.golden.scheduler.owners_first.scheduler:OwnersFirst",
    rtl="warpfile.hdl.scheduler.owners_first.scheduler:OwnersFirst",
    proofs=("tests.formal.scheduler.owners_first.choice:PROOFS",),
    wants=(RANKS,),
    defines=("scheduler",),
)

PARTS = (OWF, OWNERS_FIRST)
SCHEMES = (
    Scheme(
        name="owf",
        summary="two CTAs share registers where these limit them; owner warps issue first",
        preset="fermi_linear",
        scheduler=OWNERS_FIRST,
        collectors=UNITS,
        rf=OWF,
        survivors="warpfile.schemes:survivors/owf.toml",
        setups=(
            Setup("fermi_linear"),
            Setup("fermi_linear", {"rows": 32}),
            Setup("tiny"),
            Setup("tiny", {"rows": 64, "bank_cycles": 2}, ()),
            Setup("tiny", {"rows": 64}, (), "owf+gto"),
            Setup("tiny", {"rows": 64, "active_warps": 3}, (), "owf+two_level"),
        ),
    ),
)
