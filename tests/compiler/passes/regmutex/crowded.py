"""Code whose registers are many and scattered, with operands of two and four of them."""

from __future__ import annotations

import random

_NAMES = range(2, 22)
_COUNTER = 22
#: R6 and R8 come to live in R3 and R4 of a base set of five; R9 is the first that needs a section.
SCATTERED = """MOV R0, 0x0
    MOV R2, 0x1
    MOV R3, 0x2
    MOV R8, 0x3
    IADD3 R2, R2, R3, RZ
    MOV R6, 0x4
    {first}
    MOV R9, 0x7
    MOV R7, 0x8
    {top}LDS.64 R4, [R0]
    IADD3 R2, R2, R4, R5
    {again}IADD3 R2, R2, R7, R9
    IADD3 R2, R2, R6, R8
    STS [RZ], R2"""
SHORT = "MOV R9, 0x5\n    MOV R7, 0x6\n    IADD3 R2, R2, R7, R9\n    NOP"


def crowded(seed: int) -> str:
    """A random program that reads only what it wrote."""
    return _Writer(random.Random(seed)).program()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng, self.lines, self.known, self.labels = rng, ["S2R R0, SR_LANEID"], set[int](), 0

    def program(self) -> str:
        for _ in range(self.rng.randint(2, 4)):
            self.straight()
            self.rng.choice((self.straight, self.sides, self.loop))()
        self.fold(sorted(self.known))
        return "\n".join([*self.lines, "STS [RZ], R2"])

    def straight(self) -> None:
        """Values of one register and of several, some of which are forgotten."""
        for _ in range(self.rng.randint(3, 12)):
            self.rng.choice((self.fresh, self.fresh, self.load, self.store, self.some))()

    def fresh(self) -> None:
        self.write([self.rng.choice(_NAMES)], f"MOV R{{}}, {self.rng.randint(1, 9):#x}")

    def load(self) -> None:
        size = self.rng.choice((2, 4))
        first = self.rng.randrange(4, 20, size)
        self.write(range(first, first + size), f"LDS.{32 * size} R{{}}, [RZ]")

    def write(self, names: range | list[int], text: str) -> None:
        self.lines.append(text.format(names[0]))
        self.known |= set(names)

    def store(self) -> None:
        """A read of a pair or of four, if all were written."""
        size = self.rng.choice((2, 4))
        whole = [first for first in range(4, 20, size) if set(range(first, first + size)) <= self.known]
        if whole:
            self.lines.append(f"STS.{32 * size} [RZ], R{self.rng.choice(whole)}")

    def some(self) -> None:
        self.fold([name for name in sorted(self.known) if self.rng.random() < 0.3])

    def fold(self, names: list[int]) -> None:
        """The last use of some registers."""
        if 2 not in self.known:
            self.write([2], "MOV R{}, 0x1")
        self.lines += [f"IADD3 R2, R2, R{name}, RZ" for name in names if name != 2]
        self.known -= {name for name in names if name != 2}

    def sides(self) -> None:
        """A divergent branch; behind it only what both sides leave is known."""
        label = self.label()
        self.lines += [f"ISETP.LT.AND P0, PT, R0, {self.rng.randint(1, 14):#x}, PT", f"BSSY B0, `(behind{label})"]
        self.lines.append(f"@P0 BRA `(other{label})")
        before = set(self.known)
        self.straight()
        self.lines += [f"BRA `(meet{label})", f"other{label}:"]
        first, self.known = self.known, before
        self.straight()
        self.known &= first
        self.lines += [f"meet{label}:", "BSYNC B0", f"behind{label}:", "NOP"]

    def loop(self) -> None:
        """Two trips; a register that was known before is still known in the second one."""
        label, before = self.label(), set(self.known)
        self.lines += [f"MOV R{_COUNTER}, RZ", f"top{label}:"]
        self.straight()
        for name in sorted(before - self.known):
            self.write([name], "MOV R{}, 0x7")
        self.lines += [
            f"IADD3 R{_COUNTER}, R{_COUNTER}, 0x1, RZ",
            f"ISETP.LT.AND P1, PT, R{_COUNTER}, 0x2, PT",
            f"@P1 BRA `(top{label})",
        ]

    def label(self) -> int:
        self.labels += 1
        return self.labels
