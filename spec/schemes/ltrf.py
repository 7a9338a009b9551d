"""Declared once of ``ltrf``: parameters, hint, probes, counters (docs/schemes/ltrf.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from warpfile.spec.config import Config, choice_field, index_bits, number_field, power_field
from warpfile.spec.contract import Gives, Hint
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import CACHE_RAM, TABLE_RAM, Ram, Structure

# States of a place.
EMPTY: Final = 0
RECALL: Final = 1
PREFETCH: Final = 2
MOVING: Final = 3
OPEN: Final = 4
RELEASING: Final = 5
# Phases of the write-back channel of a bank of the cache.
BACK_IDLE: Final = 0
BACK_LOAD: Final = 1
BACK_ASK: Final = 2
BACK_BEATS: Final = 3
FREE, FILLING, FULL = range(3)  #: states of the input latch of a main bank
PARTS: Final = 4  #: of an address table: register r is in part r mod 4


@dataclass(frozen=True, kw_only=True)
class LtrfConfig(Config):
    """A domain whose active warps find their registers in a cache that the compiler has filled.

    ``banks``, ``rows`` and ``bank_cycles`` are those of the main register file.
    """

    beat_flags: ClassVar[tuple[str, ...]] = ("full", "converged")

    interval_registers: int = power_field(4, 32, "registers per interval, banks of the cache", 16)
    liveness: int = number_field(0, 1, "registers that are dead are not moved", 0)
    prefetch_unit: str = choice_field(
        ("intervals", "strands"), "what one PREFETCH is for: a register interval, or a strand", "intervals"
    )
    crossbar_beats: int = choice_field((1, 2, 4), "cycles in which a register passes between main banks and cache", 4)
    moved_back: str = choice_field(
        ("all", "dirty"), "registers that are written back: all, or those that a result changed", "all"
    )
    recall: str = choice_field(
        ("always", "spared"), "whether a warp brings its interval back whose next beat is a PREFETCH", "always"
    )
    control_block: str = choice_field(
        ("places", "warps"), "address tables: one per active warp, or one per warp as in the paper", "places"
    )
    duplex: int = number_field(0, 1, "a cache bank sends and receives at the same time", 1)
    latches: int = number_field(0, 1, "a main bank has latches towards the crossbar", 1)
    main_pipelined: int = number_field(0, 1, "a main bank takes an access every crossbar_beats cycles", 0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.has_places:
            raise ValueError(f"scheduler must have places, not be {self.scheduler}: only warps with one have a cache")
        if self.active_warps & self.active_warps - 1:
            raise ValueError(f"active_warps must be a power of two, the rows of the cache, not {self.active_warps}")
        self.must_have(
            {
                "bank_ports": ("1RW", "a main bank has one port, and the cache has ports of its own"),
                "bank_occupancy": ("length", "main_pipelined says whether accesses of a main bank overlap"),
            }
        )

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values with one port per main bank."""
        return super().adapted(values | {"bank_ports": "1RW"})

    def must_be_hardware(self) -> None:
        """See :class:`Config`."""
        super().must_be_hardware()
        why = "{} must be {}, not {}: anything else is in the golden model only"
        for name, value in {"main_pipelined": 0, "duplex": 1, "latches": 1}.items():
            if getattr(self, name) != value:
                raise ValueError(why.format(name, value, getattr(self, name)))

    @property
    def gives(self) -> Gives:
        """Sources are looked up after their beat was taken; a read takes one cycle."""
        return Gives(later=True, gates=self.recall == "spared")

    @property
    def read_banks(self) -> int:
        """Units read the cache."""
        return self.interval_registers

    @property
    def read_rows(self) -> int:
        """A row of the cache is an active warp's; a memory has two at least."""
        return max(2, self.active_warps)

    @property
    def cache(self) -> Config:
        """The cache's banks, as a configuration."""
        return self.common().replace(
            banks=self.read_banks, rows=self.read_rows, bank_ports="1R1W", bank_cycles=1, bank_skew="none"
        )

    @property
    def operand_bits(self) -> int:
        """The registers of an interval, bit r for register r."""
        return self.register_names

    @property
    def cache_bank_bits(self) -> int:
        """Width of the number of a bank of the cache."""
        return index_bits(self.interval_registers)

    @property
    def rams(self) -> dict[str, Ram]:
        """Banks of the cache, and a table or two with a row per warp."""
        cache = self.cache
        bank = Ram(cache.rows, self.data_bits, cache.bank_ports, cache.banks)
        table = Ram(self.warps, self.register_names, "1R1W", 2 if self.liveness else 1)
        return {**super().rams, CACHE_RAM: bank, TABLE_RAM: table}

    def hints(self) -> tuple[Hint, ...]:
        """Per source slot, whether its register is read for the last time."""
        dead = Hint("dead", self.source_slots, False, "sources that are read for the last time", "bit s: source slot s")
        return (*super().hints(), *((dead,) if self.liveness else ()))


def ltrf_probes(cfg: LtrfConfig) -> tuple[Probe, ...]:
    """Observation of places, banks and what moves."""
    places, banks, bank, names = cfg.active_warps, cfg.interval_registers, cfg.cache_bank_bits, cfg.register_names
    ports = cfg.write_ports
    live = (Probe("live_set", names, "live registers of the place that starts to be released"),) if cfg.liveness else ()
    return (
        Probe("place_state", 3 * places, "state of each place"),
        Probe("bank_occupied", places * banks, "banks of each place that are not free"),
        Probe("main_busy", cfg.banks, "main banks whose latest access is too recent for another one"),
        Probe("error", 1, "a register that was looked up is not in the cache"),
        Probe("recalled", places, "places that restore the interval that their warp had when it lost its place"),
        Probe("start", places, "place that starts"),
        Probe("enter", places, "place whose PREFETCH issues"),
        Probe("working_set", names, "registers of the interval that a warp enters or resumes"),
        *live,
        Probe("save", places, "place that starts to be released"),
        *_moves(cfg),
        Probe("look_up_banks", cfg.source_slots * bank, "banks of the sources in ``check``, zero where there is none"),
        Probe("channel_read", banks, "write-backs that read the cache"),
        Probe("channel_write", banks, "fills that write the cache"),
        Probe("cache_write", ports, "results that are written to the cache"),
        Probe("parked", ports, "result of a warp without a place that starts to be written to its main bank"),
        Probe("released_place", places, "places that are released"),
    )


def _moves(cfg: LtrfConfig) -> tuple[Probe, ...]:
    """Steps, fills and write-backs."""
    places, banks, place = cfg.active_warps, cfg.interval_registers, index_bits(cfg.active_warps)
    parts = PARTS * places
    return (
        Probe("out_valid", places * banks, "banks of each place whose register has to be read for a write-back"),
        Probe("in_valid", places * banks, "banks of each place whose fill has not ended"),
        Probe("in_asked", places * banks, "banks of each place whose fill was picked"),
        Probe("fill_asks", banks, "cache banks whose fill requests its main bank"),
        Probe(
            "fill_place",
            banks * place,
            "place of the fill of each cache bank that requests its main bank, zero if none",
        ),
        Probe("back_phase", 2 * banks, "phase of the write-back channel of each bank of the cache"),
        Probe("back_place", banks * place, "place of the write-back channel of each cache bank, zero if idle"),
        Probe("latch_state", 2 * cfg.banks, "state of the input latch of each main bank"),
        Probe("step_out", parts, "parts of the places in which a register leaves its bank"),
        Probe("step_in", parts, "parts of the places in which a register takes a bank"),
        Probe("step_moves", parts, "the register of that step has to be moved"),
        Probe("step_register", parts * cfg.register_bits, "the register of that step, zero if none"),
        Probe("fill_pick", banks, "cache banks that pick a fill"),
        Probe("fill_grant", banks, "cache banks whose fill is granted"),
        Probe("back_pick", banks, "cache banks that pick a write-back"),
        Probe("back_grant", banks, "cache banks whose write-back is granted"),
        Probe("unfit", 2 * banks, "fills that request and are not granted, and above them write-backs"),
        Probe("main_write", cfg.banks, "main banks whose latch is written"),
        Probe("main_beat", 2 * banks + 1, "fills, write-backs and above them the parked result on the crossbar"),
    )


def _bit_per_register(cfg: LtrfConfig) -> int:
    """A bit per register of every warp."""
    return cfg.warps * cfg.register_names


def _free_banks(cfg: LtrfConfig) -> int:
    """Two queues of banks and two counts per place."""
    return cfg.active_warps * 2 * (cfg.interval_registers * cfg.cache_bank_bits + cfg.cache_bank_bits + 1)


_FILE = r"warpfile\.register_file\."
STRUCTURES = (
    Structure("cache", "memory", CACHE_RAM, lambda cfg: cfg.active_warps * cfg.interval_registers * cfg.data_bits),
    Structure(
        "working sets and livenesses of the warps",
        "memory",
        TABLE_RAM,
        lambda cfg: (1 + cfg.liveness) * _bit_per_register(cfg),
    ),
    Structure(
        "address tables",
        "flip-flops",
        r"address_table\.",
        lambda cfg: _bit_per_register(cfg) * (1 + cfg.cache_bank_bits),
        "kept for places: a warp without a place has no register in the cache",
    ),
    Structure(
        "warp offsets",
        "flip-flops",
        r"(?!)",
        lambda cfg: cfg.warps * cfg.place_count_bits,
        "the number of the place, which the scheduler has",
    ),
    Structure(
        "pending registers",
        "flip-flops",
        r"(?!)",
        lambda cfg: cfg.active_warps * cfg.register_names,
        "the directory of registers in transfer replaces them",
    ),
    Structure("directory of what moves", "flip-flops", r"cache_side\.(fills|backs)\.(valid|asked|home\d)"),
    Structure("steps of the cycle before", "flip-flops", r"cache_place\.(entered_step|out|moves|registers|banks)"),
    Structure(
        "free banks",
        "flip-flops",
        r"cache_place\.occupied",
        _free_banks,
        "a mask of occupied banks instead of two queues",
    ),
    Structure(
        "registers of full loads",
        "flip-flops",
        r"cache_place\.incoming",
        _bit_per_register,
        "kept for places: only a register in the cache can be spared its write back",
    ),
    Structure("working sets of the places", "flip-flops", r"cache_place\.set"),
    Structure("livenesses of the places", "flip-flops", r"cache_place\.live"),
    Structure("dirty registers", "flip-flops", r"cache_place\.dirty"),
    Structure("states of the places", "flip-flops", rf"cache_place\.state|{_FILE}cache_places\."),
    Structure(
        "staging registers",
        "flip-flops",
        r"narrow_lane\.(saved|staged)",
        lambda cfg: cfg.interval_registers * cfg.data_bits,
        "one for a write-back and one for a fill, which a bank of the cache has at once",
    ),
    Structure("latches of the main banks", "flip-flops", rf"narrow_lane\.(output|latched)|{_FILE}main(\$\d+)?\."),
    Structure("control of the main banks", "flip-flops", r"main_side\."),
    Structure(
        "channels",
        "flip-flops",
        r"cache_side\.",
        lambda cfg: cfg.interval_registers * (cfg.place_count_bits + cfg.bank_bits),
        "row, phase and cycles in addition to place and main bank",
    ),
    Structure("parked results", "flip-flops", rf"{_FILE}parked_results\."),
    Structure("registers of the last beat", "flip-flops", rf"{_FILE}last_beat\."),
    Structure("error", "flip-flops", rf"{_FILE}error"),
    Structure("ports and arbiters of the cache", "flip-flops", r"cache_bank\."),
)

#: Counters that are the number of set bits of one probe.
COUNTERS = {
    "prefetches": "enter",
    "transfer_waits": "unfit",
    "parked_results": "parked",
    "crossbar_beats_used": "main_beat",
    "look_ups": "check",
    "error_cycles": "error",
}


def ltrf_events(fields: Fields) -> dict[str, int]:
    """Counters of the scheme (docs/schemes/ltrf.md, section 9)."""
    places = fields["enter"].shape[1]
    states = fields["place_state"].reshape(-1, places, 3) @ np.array([1, 2, 4])
    entered, live = ~fields["recalled"], "live_set" in fields
    came, moves, left = (
        fields[name].reshape(len(states), places, -1) for name in ("step_in", "step_moves", "step_out")
    )
    new, again = came & entered[:, :, None], came & ~entered[:, :, None]
    asked = fields["working_set"].sum(axis=1)[(states == PREFETCH).any(axis=1)].sum()
    releasing = (states == RELEASING)[:, :, None]
    sums = {
        **{counter: fields[name].sum() for counter, name in COUNTERS.items()},
        "prefetch_backs": (left & moves & ~releasing).sum(),
        "unsaved_steps": (left & ~moves & ~releasing).sum(),
        "release_backs": (left & moves & releasing).sum(),
        "unsaved_releases": (left & ~moves & releasing).sum(),
        "main_reads": fields["fill_grant"].sum(),
        "refetches": (states == RECALL).sum(),
        "prefetch_fills": (new & moves).sum(),
        "refetch_fills": (again & moves).sum(),
        "dead_fills": (came & ~moves).sum(),
        "kept_registers": asked - new.sum(),
        "moving_cycles": ((states >= RECALL) & (states <= MOVING)).sum(),
        "empty_cycles": (states == EMPTY).sum(),
        "main_writes": fields["back_grant"].sum() + fields["parked"].sum(),
        "cache_reads": fields["grant"].sum() + fields["channel_read"].sum(),
        "cache_writes": fields["cache_write"].sum() + fields["channel_write"].sum(),
        "set_reads": fields["start"].sum() * (2 if live else 1),
        "set_writes": fields["enter"].sum() + (fields["save"].sum() if live else 0),
    }
    return {name: int(value) for name, value in sums.items()}
