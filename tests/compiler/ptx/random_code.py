"""Random code with virtual registers, and a check of allocations that shares nothing with the allocator."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from warpfile.compiler.ptx.lower import Code, Lowered
from warpfile.compiler.ptx.parse import Kernel


def random_code(seed: int, size: int = 24, names: int = 12, predicates: int = 4) -> Lowered:
    """Blocks of random definitions and uses with random branches; some registers are pairs, some stand in groups."""
    rng = random.Random(seed)
    words = {f"r{at}": rng.choice((1, 1, 2)) for at in range(names)}
    found = Lowered(Kernel("random", {}, {}), words | {f"p{at}": 0 for at in range(predicates)})
    wide = [name for name in words if words[name] == 1]
    rng.shuffle(wide)
    for group in (tuple(wide[:4]), tuple(wide[4:6])):
        found.groups |= dict.fromkeys(group, group) if len(group) in (2, 4) else {}
    labels = [f"L{at}" for at in range(4)]
    places = dict(zip(rng.sample(range(1, size), 4), labels, strict=True))
    for at in range(size):
        found.code += [places[at]] if at in places else []
        found.code.append(_random_instruction(rng, found, labels))
    found.code.append(Code("EXIT", uses=tuple(rng.sample(list(words), 2))))
    return found


def _random_instruction(rng: random.Random, found: Lowered, labels: Sequence[str]) -> Code:
    kind = rng.random()
    if kind < 0.2:
        guard = rng.choice([name for name, width in found.widths.items() if not width])
        target = rng.choice(labels)
        return Code(f"@%{guard} BRA `({target})", uses=(guard,), target=target)
    name = rng.choice(list(found.widths))
    defs = found.groups.get(name, (name,)) if kind < 0.4 else (name,)
    uses = tuple(rng.sample(list(found.widths), rng.randrange(3)))
    kills = defs if kind < 0.9 else ()
    return Code(f"OP {', '.join(f'%{one}' for one in (*defs, *uses))}", defs, uses, kills)


def after(code: Sequence[Code | str], index: int) -> list[int]:
    """Where control may go behind an instruction, read from its text."""
    one = code[index]
    follows = [index + 1] if index + 1 < len(code) else []
    if isinstance(one, str):
        return follows
    if one.text == "EXIT":
        return []
    target = [code.index(one.text.partition("`(")[2][:-1])] if "BRA" in one.text else []
    return target if one.text.startswith("BRA") else [*target, *follows]


def is_live_behind(code: Sequence[Code | str], index: int, name: str) -> bool:
    """Whether a way from behind an instruction comes to a use of a register before a definition that kills it."""
    seen: set[int] = set()
    ways = after(code, index)
    while ways:
        at = ways.pop()
        one = code[at]
        if at in seen:
            continue
        seen.add(at)
        if isinstance(one, Code) and name in one.uses:
            return True
        if isinstance(one, str) or name not in one.kills:
            ways += after(code, at)
    return False


def shared_places(lowered: Lowered, numbers: Mapping[str, int]) -> list[tuple[int, str, str]]:
    """Instructions that overwrite a register that is still to be read: where, what is written, what is lost."""
    found = []
    for at, one in enumerate(lowered.code):
        for name in one.defs if isinstance(one, Code) else ():
            for other in numbers:
                if other != name and _overlap(lowered, numbers, name, other):
                    lost = other in one.defs if isinstance(one, Code) else False
                    if lost or is_live_behind(lowered.code, at, other):
                        found.append((at, name, other))
    return found


def _overlap(lowered: Lowered, numbers: Mapping[str, int], name: str, other: str) -> bool:
    first, second = lowered.widths[name], lowered.widths[other]
    if bool(first) != bool(second):
        return False
    low, high = numbers[name], numbers[other]
    return low < high + max(1, second) and high < low + max(1, first)
