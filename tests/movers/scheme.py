"""What is declared of the file that moves rows."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.golden.scenario import op
from warpfile.schemes import Part
from warpfile.schemes.part import AT_ONCE, ENGINES, LOOK_UPS, RESULT_BANKS, Hints
from warpfile.spec.config import Config, choice_field, number_field
from warpfile.spec.contract import PRIORITIES, Engine, Gives
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.rewrite import Insertion, rewritten
from warpfile.spec.trace import Drain, Kind, Port, Trace


@dataclass(frozen=True, kw_only=True)
class MoversConfig(Config):
    """Where the engines stand, and what they write at once."""

    fetch: str = choice_field(PRIORITIES, "what the engine that reads goes before", "reads")
    store: str = choice_field(
        (*PRIORITIES, "fetch"), "what the engine that writes goes before; fetch: the same", "last"
    )
    halves: int = number_field(0, 1, "whether rows are written in two halves", 1)
    rest: int = number_field(0, 31, "cycles from an operand to the first access", 0)

    @property
    def gives(self) -> Gives:
        """The file's own engines."""
        one, masked = self.store == "fetch", bool(self.halves)
        fetch = Engine("fetch", self.warps, self.fetch, reads=True, masked=one and masked)
        store = () if one else (Engine("store", self.warps, self.store, masked=masked),)
        return Gives(cycles=self.bank_cycles, engines=(fetch, *store))

    @property
    def operand_bits(self) -> int:
        """The pair of registers that a pseudo-instruction names."""
        return 5


def swapping(cfg: MoversConfig, trace: Trace, loosened: int | None) -> Trace:
    """The trace with swaps in it: of a quarter of the records, any two neighbours."""
    rng = random.Random(loosened or 0)
    found = []
    for record in range(trace.records):
        if rng.random() < 0.25:
            pair = rng.randrange(trace.registers // 2)
            swap = op(port=Port.NONE, kind=Kind.SCHEME, text=f"SWAP {pair}", operand=pair, drain=Drain.EMPTY)
            found.append(Insertion(record, swap))
    return rewritten(trace, found, annotation="swaps")


def label(cfg: MoversConfig) -> str:
    """The swaps hold for every configuration."""
    return "swaps"


def probes(cfg: Config) -> tuple[Probe, ...]:
    """Observation of the engines."""
    return (Probe("moving", cfg.warps, "warps of which a row is read or written for their swap"),)


def events(fields: Fields) -> dict[str, int]:
    """Accesses of the engines."""
    return {"moves": int(fields["moving"].sum())}


FILE = Part(
    name="movers",
    slot="rf",
    summary="for tests",
    golden="tests.movers.golden:MoversFile",
    rtl="tests.movers.rtl:MoversFile",
    parameters=MoversConfig,
    hints=Hints("tests.movers.scheme:swapping", "tests.movers.scheme:label"),
    probes=probes,
    events=events,
    offers=(AT_ONCE, LOOK_UPS, RESULT_BANKS, ENGINES),
)
