"""Generated programs for property tests: arbitrary control flow, and structured code that can be executed."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from warpfile.compiler import parse
from warpfile.compiler.cfg import Cfg, build_cfg

REGISTERS = 4


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Random SASS: moves and branches over a few labels, every label defined once."""
    count = draw(st.integers(1, 12))
    lines = []
    for position in range(count):
        lines.append(f"L{position}:")
        guard = draw(st.sampled_from(["", "@P0 ", "@!P1 "]))
        kind = draw(st.sampled_from(["move", "move", "branch", "exit"]))
        a, b = draw(st.integers(0, REGISTERS - 1)), draw(st.integers(0, REGISTERS - 1))
        if kind == "move":
            lines.append(f"{guard}IADD3 R{a + 2}, R{b + 2}, 0x1, RZ")
        elif kind == "branch":
            lines.append(f"{guard}BRA `(L{draw(st.integers(0, count - 1))})")
        else:
            lines.append(f"{guard}EXIT")
    return "\n".join(lines)


def graph(code: str) -> Cfg:
    lines, offset = ['\t.section\t.text.k,"ax",@progbits', "k:"], 0
    for line in (text.strip() for text in [*code.splitlines(), "EXIT"]):
        if line.endswith(":"):
            lines.append(line)
        else:
            lines.append(f"        /*{offset:04x}*/                   {line} ;")
            offset += 16
    return build_cfg(parse("\n".join(lines), "t").functions["k"])


def next_instructions(cfg: Cfg) -> list[list[int]]:
    """Where control may go behind every instruction, from the instructions themselves."""
    result = []
    for index, instruction in enumerate(cfg.function.instructions):
        targets = []
        if instruction.opcode == "BRA":
            targets.append(instruction.operands[-1].offset // 16)  # type: ignore[union-attr]
        if instruction.opcode not in ("BRA", "EXIT") or instruction.is_guarded:
            targets.append(index + 1)
        result.append(targets)
    return result


@dataclass
class _Writer:
    """Structured code as it is drawn: statements with branches of known meaning, loops that end."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list)
    labels: int = 0

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def register(self) -> str:
        return f"R{self.draw(st.integers(2, 5))}"

    def statements(self, depth: int) -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            kinds = ["assign", "assign", "select"] + (["branch", "branch", "loop"] if depth < 3 else [])
            getattr(self, self.draw(st.sampled_from(kinds)))(depth)

    def assign(self, depth: int) -> None:
        source = self.draw(st.sampled_from([self.register(), self.register(), "0x3", "R0", "R1", "c[0x0][0x160]"]))
        guard = self.draw(st.sampled_from(["", "", "@P1 ", "@!P2 "]))
        self.lines.append(f"{guard}IADD3 {self.register()}, {self.register()}, {source}, RZ")

    def select(self, depth: int) -> None:
        number, limit = self.draw(st.integers(1, 2)), self.draw(st.integers(0, 40))
        self.lines.append(f"ISETP.LT.AND P{number}, PT, {self.register()}, {limit:#x}, PT")

    def condition(self) -> str:
        """Set P0 from something that may or may not differ between lanes."""
        limit, tested = self.draw(st.integers(0, 20)), self.draw(st.integers(0, 4))
        self.lines.append(f"ISETP.LT.AND P0, PT, R{tested}, {limit:#x}, PT")
        return self.draw(st.sampled_from(["@P0 ", "@!P0 "]))

    def branch(self, depth: int) -> None:
        synced, barrier = self.draw(st.booleans()), f"B{depth}"
        otherwise, end, behind = self.label(), self.label(), self.label()
        if synced:
            self.lines.append(f"BSSY {barrier}, `({behind})")
        self.lines.append(f"{self.condition()}BRA `({otherwise})")
        self.statements(depth + 1)
        self.lines += [f"BRA `({end})", f"{otherwise}:"]
        if self.draw(st.booleans()):
            self.statements(depth + 1)
        self.lines.append(f"{end}:")
        if synced:
            self.lines.append(f"BSYNC {barrier}")
        self.lines.append(f"{behind}:")

    def loop(self, depth: int) -> None:
        synced, barrier, counter = self.draw(st.booleans()), f"B{depth}", f"R{10 + depth}"
        top, end, behind = self.label(), self.label(), self.label()
        if synced:
            self.lines.append(f"BSSY {barrier}, `({behind})")
        self.lines += [f"MOV {counter}, RZ", f"{top}:"]
        self.statements(depth + 1)
        if self.draw(st.booleans()):
            self.lines.append(f"{self.condition()}BRA `({end})")
        limit = self.draw(st.sampled_from(["0x2", "R6"]))
        self.lines += [
            f"IADD3 {counter}, {counter}, 0x1, RZ",
            f"ISETP.LT.AND P0, PT, {counter}, {limit}, PT",
            f"@P0 BRA `({top})",
            f"{end}:",
        ]
        if synced:
            self.lines.append(f"BSYNC {barrier}")
        self.lines.append(f"{behind}:")


#: How structured code begins: R0 differs between lanes, R1 does not; R6 is a lane's trip count.
BEGIN = (
    "S2R R0, SR_LANEID",
    "S2R R1, SR_CTAID.X",
    "LOP3.LUT R6, R0, 0x3, RZ, 0xc0, !PT",
    *(f"MOV R{number}, {'RZ' if number < 4 else 'R0'}" for number in range(2, 6)),
    "ISETP.LT.AND P1, PT, R1, 0x1, PT",
    "ISETP.LT.AND P2, PT, R0, 0x7, PT",
)


@st.composite
def structured(draw: st.DrawFn) -> str:
    """Executable SASS: nested branches and loops."""
    writer = _Writer(draw)
    writer.lines += BEGIN
    writer.statements(0)
    return "\n".join(writer.lines)
