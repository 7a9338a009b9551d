"""Values of one to four bytes: the slices that they take in a row of a bank, and how they are put there.

The rules are those of docs/schemes/corf.md, section 3.

Sizes are one-hot here: bit n - 1 stands for n bytes; no bit stands for no value.
"""

from amaranth import Cat, Const, Module, Mux, Value

from warpfile.hdl.arbiter import highest_one, lowest_one, select
from warpfile.hdl.naming import named
from warpfile.spec.contract import SLICES


def needs_more(word: Value) -> Value:
    """For k = 1, 2, 3, whether a lane's value is not the sign extension of its lowest k bytes, in that byte alone:
    a value needs more than k bytes if this holds for k or for more."""
    return Cat(_differs(word[8 * k - 1 : 8 * k + 7], word[31]) for k in range(1, SLICES))


def _differs(group: Value, sign: Value) -> Value:
    """Whether some bit of a group is not the sign."""
    return Mux(sign, ~group.all(), group.any())


def size_of(more: Value) -> Value:
    """Size of a value, of what :func:`needs_more` gives for any of its lanes."""
    return Cat(~more.any(), highest_one(more))


def mask_size(mask: Value) -> Value:
    """Size of the value in some slices, which are neighbours."""
    runs = [runs_of(mask, size).any() for size in range(1, SLICES + 1)]
    return Cat(run & ~longer for run, longer in zip(runs, [*runs[1:], Const(0, 1)], strict=True))


def runs_of(free: Value, size: int) -> Value:
    """Anchors at which so many slices side by side are set."""
    return Cat(free[anchor : anchor + size].all() for anchor in range(SLICES + 1 - size))


def low_slices(size: Value) -> Value:
    """The slices of a value at anchor 0."""
    return Cat(size[at:].any() for at in range(SLICES))


def high_slices(size: Value) -> Value:
    """The slices of a value at its highest anchor."""
    return low_slices(size)[::-1]


def slices_from(size: Value, anchor: Value) -> Value:
    """The slices of a value at an anchor, which is a number."""
    return (low_slices(size) << anchor)[:SLICES]


def first_slices(m: Module, free: Value, size: Value, *, highest: bool = False) -> Value:
    """The slices of a value at the lowest, or the highest, anchor where these slices have room; zero for none."""
    pick, masks = highest_one if highest else lowest_one, []
    for count in range(1, SLICES + 1):
        anchors = named(m, f"anchors{count}", pick(runs_of(free, count)))
        masks.append(select(anchors, [Const((1 << count) - 1 << at, SLICES) for at in range(len(anchors))]))
    return named(m, "first_slices", select(size, masks))


#: Bits of :func:`way_in`, and of :func:`way_out`.
WAY_IN, WAY_OUT = SLICES, 2 * SLICES


def way_in(mask: Value) -> Value:
    """What a packer has to know of the slices that a value is put into."""
    return lowest_one(mask)


def way_out(mask: Value) -> Value:
    """What an unpacker has to know of the slices that a value is in."""
    return Cat(lowest_one(mask), mask_size(mask))


def packed(word: Value, way: Value) -> Value:
    """A lane of a value in flight into the slices of :func:`way_in`; what is in the others does not matter."""
    return select(way, [Cat(Const(0, 8 * at), word)[:32] for at in range(SLICES)])


def unpacked(m: Module, row: Value, way: Value) -> Value:
    """A lane of the value that is in the slices of :func:`way_out` of a row; zero if it is in none."""
    anchor, size = way[:SLICES], way[SLICES:]
    moved = named(m, "moved", select(anchor, [row[8 * at :] for at in range(SLICES)]))
    sign = named(m, "sign", (Cat(moved[8 * at + 7] for at in range(SLICES)) & size).any())
    words = [
        Mux(kept, moved.word_select(at, 8), sign.replicate(8))
        for at, kept in enumerate(named(m, "kept", low_slices(size)))
    ]
    return Cat(words)
