"""A second reading of owners, from probes and beats alone, and what must hold of them in every cycle."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.golden.invariants import Watcher, require
from warpfile.golden.arbiter import indices
from warpfile.spec.stimulus import Stimulus


@dataclass
class OwnerWatcher(Watcher):
    """The frame's invariants over collector units, with owners followed by the beats that issue."""

    refuses: bool = True
    owners: set[int] = field(default_factory=set)
    waited: int = 0

    def size(self, name: str) -> int:
        """A field of the descriptor."""
        return self.workload.kernel.descriptor[name]

    def _bank(self, warp: int, register: int) -> int:
        private, shared = self.size("private_registers"), self.size("shared_registers")
        paired, two = self.size("paired_warps"), 2 * private + shared
        if warp >= paired:
            place = paired // 2 * two + (warp - paired) * (private + shared) + register
        elif register < private:
            place = warp // 2 * two + warp % 2 * private + register
        else:
            place = warp // 2 * two + private + register
        return place % self.cfg.banks

    def touches(self, warp: int) -> bool:
        """Whether the warp's head beat names a register that it shares."""
        buffer = self.buffers.get(warp)
        if not buffer or warp >= self.size("paired_warps"):
            return False
        head = buffer[0]
        named = (*head.sources, *range(head.dest, head.dest + head.dest_count))
        return any(register >= self.size("private_registers") for register in named)

    def _check_owners(self, f: dict[str, int]) -> None:
        require(f["stray"] == 0, "no two partners are owners")
        require(f["owns"] == sum(1 << warp for warp in self.owners), "owners are those that named a shared register")
        require(not any(warp ^ 1 in self.owners for warp in self.owners), "of two partners one is an owner")
        ctas = {self.cta[warp] for warp in self.owners}
        require(not any(cta ^ 1 in ctas for cta in ctas), "all owners of two CTAs that share are in one of them")
        waits = [w for w in self.buffers if self.touches(w) and w not in self.owners and self.cta[w] ^ 1 in ctas]
        require(f["owner_waiting"] == sum(1 << w for w in waits), "a warp waits while the other CTA has an owner")
        below = (1 << self.size("paired_warps")) - 1
        require(f["paired"] == f["resident"] & below, "paired are resident warps in slots with a partner")

    def _check_masks(self, f: dict[str, int]) -> None:
        super()._check_masks(f)
        eligible = f["clear"] & ~f["waiting"] & f["room"] & ~f["owner_waiting"]
        if "placed" not in f:
            require(bool(f["issue"] or not eligible), "no warp sleeps that could go on")
        if f["issue"]:
            require(bool(eligible >> f["issue_warp"] & 1), "a warp that waits does not issue")
            if self.cfg.gives.ranks:
                self._check_rank(f, eligible)

    def _check_rank(self, f: dict[str, int], eligible: int) -> None:
        sharers = (1 << self.size("paired_warps")) - 1 & ~f["owns"]
        first = next(some for some in (f["owns"], ~f["owns"] & ~sharers, sharers) if some & eligible)
        require(bool(first >> f["issue_warp"] & 1), "owners go first, sharers last")

    def _check_accesses(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        private = self.size("private_registers")
        shared = own = 0
        if f["issue"] and self.buffers[f["issue_warp"]][0].mask:
            for slot, register in enumerate(self.buffers[f["issue_warp"]][0].sources):
                shared |= (register >= private) << slot
                own |= (register < private) << slot
        require((f["shared_source"], f["private_source"]) == (shared, own), "sources are counted by their set")
        stored = f["shared_write"] | f["private_write"]
        require(not stored & ~f["write"], "what is stored was accepted")
        for port in indices(f["write"]):
            result = stimulus.results[port]
            assert result is not None
            kind = "shared" if result.register >= private else "private"
            require(bool(f[f"{kind}_write"] >> port & 1) == result.writes, "a result is stored in its set")

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it."""
        self._check_owners(f)
        self._check_accesses(stimulus, f)
        self.waited += f["owner_waiting"].bit_count()
        warp = f["issue_warp"]
        takes = bool(f["issue"]) and self.touches(warp) and warp not in self.owners
        require(f["owner_taken"] == takes, "the issue of a shared register's first beat makes an owner")
        super().check(stimulus, f)
        if takes:
            self.owners.add(warp)
        if f["exit"]:
            self.owners.discard(warp)

    def check_end(self, counters: dict[str, int]) -> None:
        """No warp is left."""
        super().check_end(counters)
        require(not self.owners, "owners end with their warps")
