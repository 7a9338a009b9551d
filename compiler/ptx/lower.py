"""From PTX to instructions in SASS notation whose registers are still virtual.

Every PTX instruction becomes one instruction where the emulator has one (:mod:`compiler.ptx.templates`). A 64-bit
register is an aligned pair, a vector of a wide access an aligned group.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from warpfile.compiler.ptx.errors import PtxError
from warpfile.compiler.ptx.operands import NUMBER, Operand, literal, operand_of
from warpfile.compiler.ptx.parse import SIZES, Kernel, Operation
from warpfile.compiler.ptx.templates import LAUNCH, PARAMETERS, SPECIAL, TEMPLATES

_SLOT = re.compile(r"(-?)([=$])(\d|[A-Za-z])(?::([01]))?(?![\w])")
_SPACES = {"global": "G", "shared": "S", "local": "L"}
_NARROW = {"u8": ".U8", "b8": ".U8", "s8": ".S8", "u16": ".U16", "b16": ".U16", "s16": ".S16"}
_WIDE = {4: "", 8: ".64", 16: ".128"}


@dataclass(frozen=True)
class Code:
    """One instruction: SASS with ``%name`` and ``%name:1`` for virtual registers.

    ``kills`` are those of ``defs`` whose old value is lost. ``target`` is the label of a branch.
    """

    text: str
    defs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    kills: tuple[str, ...] = ()
    target: str = ""


@dataclass
class Lowered:
    """A kernel's instructions, and labels as texts. ``widths`` has 0 for a predicate, else words of a register.

    ``groups`` are registers that must stand one behind the other, aligned to the size of all.
    """

    kernel: Kernel
    widths: dict[str, int] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)  #: by member
    code: list[Code | str] = field(default_factory=list)


def lower(kernel: Kernel) -> Lowered:
    """Instructions of a kernel. Raises :class:`PtxError` for what has no template."""
    return _Lowering(kernel).run()


class _Lowering:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.found = Lowered(kernel)
        for name, kind in kernel.types.items():
            self.found.widths[name.lstrip("%")] = 0 if kind == "pred" else max(1, int(kind[1:]) // 32)
        self.temporaries = 0
        self.ends = self._ends()

    def _ends(self) -> set[str]:
        """Labels behind which there is only ``ret``."""
        labels, ends = [], set()
        for one in self.kernel.body:
            if isinstance(one, str):
                labels.append(one)
            else:
                ends |= set(labels) if one.opcode == ("ret",) and not one.guard else set()
                labels = []
        return ends

    def run(self) -> Lowered:
        for one in self.kernel.body:
            if isinstance(one, str):
                self.found.code.append(one)
            else:
                try:
                    self._operation(one)
                except (ValueError, KeyError, IndexError) as error:
                    if isinstance(error, PtxError):
                        raise
                    said = str(error) if type(error) is ValueError else "operands are not of the expected kinds"
                    raise PtxError(one.line, f"{'.'.join(one.opcode)}: {said}") from None
        return self.found

    def _operation(self, one: Operation) -> None:
        first = one.opcode[0]
        if first in ("bra", "ret"):
            self._flow(one)
        elif one.guard:
            raise ValueError("only branches may have a guard")
        elif first in ("ld", "st"):
            self._memory(one)
        elif first == "atom":
            self._atomic(one)
        elif first == "shfl":
            self._shuffle(one)
        elif first == "mov" and one.operands[1] in SPECIAL:
            self._sequence(one, (f"S2R =0, {SPECIAL[one.operands[1]]}",), 1)
        elif first == "mov" and one.operands[1] in LAUNCH:
            self._sequence(one, (f"MOV =0, c[0x0][0x{LAUNCH[one.operands[1]]:x}]",), 1)
        elif one.opcode == ("mov", "pred") and NUMBER.match(one.operands[1]):
            truth = Operand("!PT" if int(one.operands[1]) == 0 else "PT")
            self._emit([self._operand(one.operands[0]), truth], TEMPLATES["mov.pred"])
        elif first == "bfi":
            self._inserted(one)
        elif first == "mov" and "{" in "".join(one.operands):
            self._packed(one)
        elif ".".join(one.opcode) in TEMPLATES:
            self._sequence(one, TEMPLATES[".".join(one.opcode)])
        else:
            raise PtxError(one.line, f"{'.'.join(one.opcode)} is not lowered")

    def _flow(self, one: Operation) -> None:
        guard = self._operand(one.guard) if one.guard else None
        prefix = f"@{guard.text} " if guard else ""
        uses = guard.registers if guard else ()
        if one.opcode[0] == "ret" or one.operands[0] in self.ends:
            self.found.code.append(Code(f"{prefix}EXIT", uses=uses))
        else:
            self.found.code.append(Code(f"{prefix}BRA `({one.operands[0]})", uses=uses, target=one.operands[0]))

    def _sequence(self, one: Operation, templates: Sequence[str], count: int | None = None) -> None:
        """Instructions by templates; ``count`` operands stand in them, by default all."""
        self._emit([self._operand(text) for text in one.operands[:count]], templates)

    def _emit(self, operands: Sequence[Operand], templates: Sequence[str]) -> None:
        slots: dict[str, Operand] = {str(at): operand for at, operand in enumerate(operands)}
        begun: set[str] = set()
        for template in templates:
            defs: list[str] = []
            uses: list[str] = []

            def filled(match: re.Match[str], defs: list[str] = defs, uses: list[str] = uses) -> str:
                sign, role, name, half = match.groups()
                if name.isalpha() and name not in slots:
                    slots[name] = self._temporary(name)
                operand = slots[name]
                (defs if role == "=" else uses).extend(operand.registers)
                return operand.negated(half) if sign else operand.word(half)

            text = _SLOT.sub(filled, template)
            kills = tuple(name for name in defs if name not in begun)
            begun |= set(defs)
            self.found.code.append(Code(text, tuple(defs), tuple(uses), kills))

    def _temporary(self, name: str) -> Operand:
        self.temporaries += 1
        register = f"temporary{self.temporaries}"
        self.found.widths[register] = 2 if name.isupper() else 1
        return Operand(f"%{register}", (register,))

    def _operand(self, text: str) -> Operand:
        if text.startswith("{"):
            return self._group([part.strip() for part in text.strip("{}").split(",")])
        return operand_of(self.kernel, text)

    def _group(self, parts: Sequence[str]) -> Operand:
        """Registers one behind the other; those that cannot stand so are copied first."""
        names = tuple(part.lstrip("%") for part in parts)
        if len(names) == 1:
            return self._operand(parts[0])
        known = {self.found.groups.get(name) for name in names}
        usable = all(part in self.kernel.types for part in parts) and len(set(names)) == len(names)
        if not usable or known not in ({None}, {names}):
            names = self._copied(parts)
        self.found.groups |= dict.fromkeys(names, names)
        return Operand(f"%{names[0]}", names)

    def _copied(self, parts: Sequence[str]) -> tuple[str, ...]:
        names = []
        for part in parts:
            source = self._operand(part)
            wide = any(self.found.widths[name] == 2 for name in source.registers)
            copy = self._temporary("A" if wide else "a")
            self._emit([copy, source], ["MOV.64 =0, $1" if wide else "MOV =0, $1"])
            names.append(copy.registers[0])
        return tuple(names)

    def _memory(self, one: Operation) -> None:
        """Loads and stores; a parameter is a word or a pair of constant bank 0."""
        parts = [part for part in one.opcode[1:] if part not in ("volatile", "nc", "relaxed", "ca", "cg", "cs", "cta")]
        space, kind = parts[0], parts[-1]
        if space == "param":
            self._parameter(one, SIZES[kind[1:]])
            return
        if space not in _SPACES:
            raise PtxError(one.line, f"{'.'.join(one.opcode)} is not lowered")
        count = int(next((part[1:] for part in parts if part in ("v2", "v4")), 1))
        size = SIZES[kind[1:]] * count
        if count > 1 and kind in _NARROW:
            raise PtxError(one.line, f"{'.'.join(one.opcode)} is not lowered")
        mark = _NARROW.get(kind, "") if size < 4 else _WIDE[size]
        opcode = _SPACES[space] + {"G": ".E"}.get(_SPACES[space], "") + mark + {"G": ".SYS"}.get(_SPACES[space], "")
        if one.opcode[0] == "ld":
            self._load(one, f"LD{opcode}")
        else:
            self._store(one, f"ST{opcode}")

    def _parameter(self, one: Operation, size: int) -> None:
        name, _, offset = one.operands[1].strip("[]").partition("+")
        if one.opcode[0] != "ld" or name not in self.kernel.parameters or size < 4:
            raise ValueError("only words and pairs of the kernel's own parameters are loaded")
        place = PARAMETERS + self.kernel.parameters[name] + int(offset or 0)
        self._sequence(one, (f"MOV{'.64' if size == 8 else ''} =0, c[0x0][0x{place:x}]",), 1)

    def _load(self, one: Operation, opcode: str) -> None:
        address = self._operand(one.operands[1])
        if not one.operands[0].startswith("{"):
            self._emit([self._operand(one.operands[0]), address], [f"{opcode} =0, $1"])
            return
        parts = [part.strip() for part in one.operands[0].strip("{}").split(",")]
        names = tuple(part.lstrip("%") for part in parts)
        if {self.found.groups.get(name) for name in names} in ({None}, {names}):
            self._emit([self._group(parts), address], [f"{opcode} =0, $1"])
            return
        wide = self.found.widths[names[0]] == 2
        copies = [self._temporary("A" if wide else "a") for _ in names]
        group = tuple(copy.registers[0] for copy in copies)
        self.found.groups |= dict.fromkeys(group, group)
        self._emit([Operand(copies[0].text, group), address], [f"{opcode} =0, $1"])
        for part, copy in zip(parts, copies, strict=True):
            self._emit([self._operand(part), copy], ["MOV.64 =0, $1" if wide else "MOV =0, $1"])

    def _store(self, one: Operation, opcode: str) -> None:
        data = self._operand(one.operands[1])
        if data.value is not None:
            data = self._operand_in_register(data, ".64" in opcode)
        self._emit([self._operand(one.operands[0]), data], [f"{opcode} $0, $1"])

    def _operand_in_register(self, data: Operand, wide: bool) -> Operand:
        if data.value == 0:
            return Operand("RZ")
        copy = self._temporary("A" if wide else "a")
        self._emit([copy, data], ["MOV.64 =0, $1" if wide else "MOV =0, $1"])
        return copy

    def _atomic(self, one: Operation) -> None:
        space, action, kind = one.opcode[1], one.opcode[2].upper(), one.opcode[-1]
        if kind not in ("u32", "s32", "b32", "f32") or action not in ("ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH"):
            raise PtxError(one.line, f"{'.'.join(one.opcode)} is not lowered")
        typed = {"s32": ".S32", "f32": ".F32"}.get(kind, "")
        opcode = {"global": f"ATOMG.E.{action}{typed}.STRONG.GPU PT, =0", "shared": f"ATOMS.{action}{typed} =0"}[space]
        given = self._operand(one.operands[2])
        if given.value is not None:
            given = self._operand_in_register(given, False)
        self._emit([self._operand(one.operands[0]), self._operand(one.operands[1]), given], [f"{opcode}, $1, $2"])

    def _shuffle(self, one: Operation) -> None:
        result, _, in_range = one.operands[0].partition("|")
        operands = [self._operand(text) for text in (result, in_range, *one.operands[1:4]) if text]
        mode = {"bfly": "BFLY", "down": "DOWN", "up": "UP", "idx": "IDX"}[one.opcode[2]]
        first = "=1" if in_range else "PT"
        shift = 2 if in_range else 1
        self._emit(operands, [f"SHFL.{mode} {first}, =0, ${shift}, ${shift + 1}, ${shift + 2}"])

    def _inserted(self, one: Operation) -> None:
        """Bits of one register put into another, at a place that is known."""
        operands = [self._operand(text) for text in one.operands]
        place, count = (operand.value for operand in operands[3:5])
        if one.opcode[1] == "b64" and (place, count) == (32, 32):
            self._emit(operands, ["MOV =0:1, $1:0", "MOV =0:0, $2:0"])
        elif one.opcode[1] == "b32" and place is not None and count is not None:
            mask = literal(((1 << count) - 1 << place) & 0xFFFFFFFF)
            self._emit(operands, ["SHF.L.U32 =a, $1, $3, RZ", f"LOP3.LUT =0, $a, $2, {mask}, 0xe4, !PT"])
        else:
            raise PtxError(one.line, f"{'.'.join(one.opcode)} at a place that varies is not lowered")

    def _packed(self, one: Operation) -> None:
        """Words of a pair, or halves of a word: a copy each, and one that puts two halves together."""
        takes = {"b64": ("MOV =0, $2:0", "MOV =1, $2:1"), "b32": ("PRMT =0, $2, 0x4410, RZ", "PRMT =1, $2, 0x4432, RZ")}
        makes = {"b64": ("MOV =0:0, $1", "MOV =0:1, $2"), "b32": ("PRMT =0, $1, 0x5410, $2",)}
        parts = [part.strip() for part in "".join(text for text in one.operands if "{" in text).strip("{}").split(",")]
        if one.opcode[1] not in takes or len(parts) != 2:
            raise PtxError(one.line, f"{'.'.join(one.opcode)} of a vector is not lowered")
        if one.operands[0].startswith("{"):
            self._emit([self._operand(text) for text in (*parts, one.operands[1])], takes[one.opcode[1]])
        else:
            self._emit([self._operand(text) for text in (one.operands[0], *parts)], makes[one.opcode[1]])
