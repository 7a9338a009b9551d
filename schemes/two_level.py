"""The two-level scheduler."""

from warpfile.schemes.part import OWNERS_FIRST, PLACES, Part
from warpfile.schemes.scheme import Scheme
from warpfile.spec.schemes.two_level import place_events, place_probes

#: Of every configuration those that say how it works.
FIELDS = (
    *("scheduler", "active_warps", "active_choice", "suspend", "suspend_load", "suspend_barrier"),
    *("starved_after", "resume", "long_from", "notice_latency"),
)

TWO_LEVEL = Part(
    name="two_level",
    slot="scheduler",
    summary="only warps that hold a place issue; one that waits for memory or at a barrier gives its place up",
    golden="warpfile.golden.scheduler.two_level.scheduler:TwoLevel",
    rtl="warpfile.hdl.scheduler.two_level.scheduler:TwoLevel",
    probes=place_probes,
    events=place_events,
    offers=(PLACES, OWNERS_FIRST),
    proofs=("tests.formal.scheduler.two_level.places:PROOFS",),
)

PARTS = (TWO_LEVEL,)
SCHEMES: tuple[Scheme, ...] = ()
