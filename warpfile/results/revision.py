"""Which machine around the schemes the figures of a page are of.

A change that moves the cycles of every scheme makes all pages old at once, and they take hours to write. So each page
names its machine. A page of an older machine begins with a list of the changes since then.
"""

from __future__ import annotations

import re

#: Counted up with every change of the machine that moves cycles of all schemes.
MACHINE = 5
#: What each machine has that the one before it had not.
CHANGES = {
    2: (
        "Accesses move sectors of 32 bytes.",
        "The domains share one LSU, and atomics go to the L2.",
        "A run ends with its last store.",
        "Buffers lie as drivers place them.",
        "Registers are allocated in units.",
        "Cycles count from the start on.",
    ),
    3: (
        "A collector unit is taken again in the cycle of its dispatch.",
        "A beat may wait behind its port.",
        "L1 caches and misses are those of each GPU's file.",
        "The cycles from an addition to the next one that needs it are those of that file, too.",
    ),
    4: (
        "The L1 keeps track of no more misses at a time, and of no more accesses to one, than each GPU's file says.",
        "Units of doubles (fermi, kepler) and of matrices (ampere) are those of these files.",
    ),
    5: ("Warps are counted over the launch when they are dealt to the domains: CTAs of 1 to 3 warps spread out.",),
}
_LINE = re.compile(r"^Machine (\d+)\.$", re.MULTILINE)


def stated_machine(text: str) -> int:
    """The machine that a page names; pages that name none are of the first."""
    found = _LINE.search(text)
    return int(found[1]) if found else 1


def machine_line() -> str:
    """The line that names today's machine on a page."""
    return f"Machine {MACHINE}."


def warning(machine: int) -> str:
    """What a page of an older one must say, below its title."""
    new = [f"* {change}" for number in range(machine + 1, MACHINE + 1) for change in CHANGES[number]]
    head = f"**Figures of machine {machine}, not of today's.** The command below has today's. What has changed:"
    return "\n".join((head, "", *new))
