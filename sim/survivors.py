"""Why some mutants survive although they are not proven equivalent."""

from __future__ import annotations

from dataclasses import dataclass

from warpfile.sim.mutants import Mutant


@dataclass(frozen=True)
class Survivor:
    """One mutant of a scheme's list at a preset, and the reason why no trace shows it."""

    scheme: str
    preset: str
    module: str
    place: str
    reason: str


#: As long as nobody has looked at it and put it here, a survivor is open.
SURVIVORS: tuple[Survivor, ...] = (
    Survivor(
        "baseline",
        "tiny",
        "dispatch_arbiter.round_robin",
        "const0 of S[0] in `if (rst) begin`",
        "without its reset the pointer starts at its initial value, which is the same, and a run has one reset",
    ),
    Survivor(
        "baseline",
        "tiny",
        "instruction_buffer",
        "const0 of A[88] in `end else if (pop) begin`",
        "bit 21 of the payload, which numbers the beats: no trace has so many",
    ),
    Survivor(
        "baseline",
        "tiny",
        "instruction_buffer",
        "const1 of B[0] in `$18 = place1 & push`",
        "the second entry also takes what is offered without a push, but is not valid before a push writes it again",
    ),
    Survivor(
        "baseline",
        "tiny",
        "warpfile.operands",
        "const0 of operands[107] in `collector_lane collector_lane2 (`",
        "an operand of the second source slot on the port of the SFU, whose instructions have one source",
    ),
    Survivor(
        "baseline",
        "tiny",
        "warpfile.operands",
        "const0 of B[40] in `dispatch__1__payload = $21 | $22 `",
        "bit 24 of the payload, which numbers the beats: no trace has so many",
    ),
    Survivor(
        "malekeh",
        "tiny",
        "caching_unit.recency",
        "const1 of B[0] in `older0_2 = rank[1:0] < rank[5:4]`",
        "shows only where two entries have one rank; ranks are a permutation (`docs/proofs.md`, `Recency`)",
    ),
    Survivor(
        "malekeh",
        "tiny",
        "caching_unit.result_lookup",
        "const0 of Y[0] in `$113 = ~ $112 `",
        "`crowded` needs a unit with all entries locked; two source slots lock two of four entries at most",
    ),
    Survivor(
        "malekeh",
        "tiny",
        "warpfile.operands",
        "const0 of A[43] in `$32 = $30 | $31 `",
        "bit 27 of the payload, which numbers the beats: no trace has so many",
    ),
    Survivor(
        "malekeh",
        "tiny",
        "caching_unit",
        "const0 of D[26] in `always @(posedge clk)`",
        "bit 26 of the payload, which numbers the beats: no trace has so many",
    ),
    Survivor(
        "malekeh",
        "tiny",
        "caching_unit",
        "const0 of A[27] in `if (allocate) begin`",
        "bit 27 of the payload, which numbers the beats: no trace has so many",
    ),
    Survivor(
        "bow",
        "tiny",
        "warpfile.operands",
        "const0 of B[35] in `$258 = window3__out & { chosen__2[3], chosen__2[3], chose...`",
        "bit 19 of the payload, which numbers the beats: no trace has so many",
    ),
    Survivor(
        "bow",
        "tiny",
        "window.slots",
        "cnot1 of Y[24] in `if (taken[0]) begin`",
        "inverts bit 24 of the payload where bit 29 is set; the payload numbers the beats: no trace has so many",
    ),
    Survivor(
        "bow",
        "tiny",
        "window.tags",
        "const0 of B[0] in `next_waiting = granted | $8 `",
        "data that are not there in the cycle after their grant; with one `bank_cycles` they are",
    ),
    Survivor(
        "rfc",
        "tiny",
        "cached_unit",
        "const1 of B[1] in `$8 = unread & { read, read }`",
        "`read` is set whenever a slot is unread: one unit is checked in a cycle, and its hits are read in the next",
    ),
    Survivor(
        "rfc",
        "tiny",
        "warpfile.operands",
        "cnot1 of A[38] in `$22 = unit2__out & { chosen__1[2], chosen__1[2], chosen__...`",
        "bit 22 of the payload, which numbers the beats: no trace has so many",
    ),
)


def reason(scheme: str, preset: str, mutant: Mutant) -> str:
    """Why a mutant survives; empty as long as nobody has looked at it."""
    key = (scheme, preset, mutant.module, mutant.place)
    known = (one for one in SURVIVORS if (one.scheme, one.preset, one.module, one.place) == key)
    return next((one.reason for one in known), "")
