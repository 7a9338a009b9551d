"""What holds of the start of every machine (docs/machine.md, section 1)."""

from __future__ import annotations

from collections.abc import Mapping

from tests.golden.invariants import require


class StartWatcher:
    """Looks at the cycles of a run whose kernel, or without one whose launch, is offered from the first cycle on."""

    def __init__(self) -> None:
        self.before = self.since = 0

    def check(self, f: Mapping[str, int]) -> None:
        """Check one cycle."""
        if not f["started"]:
            require(not self.since, "a start ends for good")
            require(not f.get("kernel") and not f["launch"], "nothing is taken before the end of the start")
            self.before += 1
            return
        if not self.since:
            require(bool(f.get("kernel", f["launch"])), "what is offered is taken as soon as the start is over")
        self.since += 1

    def check_end(self, counters: Mapping[str, int]) -> None:
        """Check the sums of the whole run."""
        require(counters["start_cycles"] == self.before, "a start is counted by itself")
        require(counters["cycles"] == self.since, "cycles count from the end of the start on")
        reasons = ("idle", "hazard", "barrier", "room")
        counted = counters["beats"] + sum(counters[f"issue_{reason}"] for reason in reasons)
        require(counted == self.since, "every cycle since the start issues or has a reason")
