"""Declared once of ``las``: parameters, probes, counters (docs/schemes/larf.md, section 19)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from warpfile.spec.config import Config, choice_field, number_field
from warpfile.spec.probe import Fields, Probe

# States of the probe.
NO_PROBE: Final = 0
P1: Final = 1
P2: Final = 2
# States of the reader.
NO_READER: Final = 0
ASK: Final = 1
READ: Final = 2
DATA: Final = 3
READ_CYCLES: Final = 4  #: that it has for its bank
FLAGGED_BY = ("perfect", "any")


@dataclass(frozen=True, kw_only=True)
class LasConfig(Config):
    """A domain whose scheduler prefers warps whose next load is in the register file."""

    flagged_by: str = choice_field(
        FLAGGED_BY, "what a probe has to find to flag a warp: its vector, or any that shares words with it", "perfect"
    )
    flag_limit: int = number_field(1, 255, "issues of flagged warps in a row, if others could issue", 64)

    @property
    def lookahead(self) -> bool:
        """The scheduler wants to be told, if it is this one."""
        return self.scheduler == "las"


def lookahead_probes(cfg: Config) -> tuple[Probe, ...]:
    """Observation of the probe and its reader, which are in the register file."""
    return (
        Probe("reader_state", 2, "reader of addresses: 0 empty, 1 ASK, 2 READ, 3 DATA"),
        Probe("probed", cfg.warps, "warps whose head load has had its probe"),
        Probe("reader_read", 1, "the reader's bank serves it"),
        Probe("reader_late", 1, "the reader gives up: its bank has not served it in time"),
        Probe("probe_state", 2, "probe: 0 empty, 1 P1, 2 P2"),
        Probe("probe_hit", 1, "the probe compares and finds a matching entry"),
        Probe("lookahead_hit", cfg.warps, "warp whose next load was found in the register file, one-hot"),
    )


def lookahead_events(fields: Fields) -> dict[str, int]:
    """Counters of the probe."""
    low, high = fields["probe_state"][:, 0], fields["probe_state"][:, 1]
    sums = {"las_hits": "probe_hit", "las_reads": "reader_read", "las_late": "reader_late"}
    return {"las_probes": int((low & ~high).sum())} | {name: int(fields[of].sum()) for name, of in sums.items()}


def flag_probes(cfg: Config) -> tuple[Probe, ...]:
    """Observation of the scheduler."""
    return (Probe("flagged", cfg.warps, "warps whose next load was found in the register file"),)


def flag_events(fields: Fields) -> dict[str, int]:
    """Its counter: issues of warps that have a flag."""
    numbers = fields["issue_warp"] @ (1 << np.arange(fields["issue_warp"].shape[1]))
    flagged = fields["flagged"][np.arange(len(numbers)), numbers]
    return {"las_issues": int((flagged & fields["issue"][:, 0]).sum())}
