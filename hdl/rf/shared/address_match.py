"""How an access and one entry of the address table lie to each other (docs/schemes/larf.md, sections 7 and 8)."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, encode, select
from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import BASE_BITS, STRIDE_BITS, WORD, SharedConfig

#: Bits of a number of words.
WORD_BITS = BASE_BITS - (WORD.bit_length() - 1)


def multiple_bits(cfg: SharedConfig) -> int:
    """Bits of the greatest distance, in words, at which two vectors have words in common."""
    return max(1, ((cfg.lanes - 1) * ((1 << STRIDE_BITS) - 1)).bit_length())


def sees_multiples(cfg: SharedConfig) -> bool:
    """Whether a client asks for entries that have some of the words."""
    return cfg.search == "merge" or (cfg.gives.lookahead and cfg.flagged_by == "any")


def takes_multiples(cfg: SharedConfig) -> bool:
    """Whether the factor is found by comparing with all multiples; of powers of two it is what is left of a shift."""
    return sees_multiples(cfg) and cfg.strides == "any"


class AddressMatch(wiring.Component):
    """Compares an access with one entry. Combinational.

    There is no divider: how far the access is away from the entry is compared with all multiples of the stride, which
    all entries share, or shifted by a stride that is a power of two.

    Members
    -------
    valid : In(1), base, stride, mask : In   The entry.
    wanted_base, wanted_stride, wanted : In   The access: its vector and its lanes; of a store the first word.
    multiples : In               The stride of the access, times 1 and so on, in one word; only with
                                 :func:`takes_multiples`, and the next lines with :func:`sees_multiples`.
    ahead : Out(lanes), behind : Out(lanes - 1)   Its lane i is lane i + d of the entry: d from 0 on; -1, -2 and so on.
    distance : Out               d, or -d, of one that is ahead, or behind.
    perfect : Out(1)             It is the same vector, and all its lanes are there.
    last : In, meets : Out(1)    The entry has some word from the first one of the access to this one.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg, self._merges = cfg, sees_multiples(cfg)
        lanes = cfg.lanes
        members: dict[str, wiring.Member] = {
            "valid": In(1),
            **{name: In(WORD_BITS) for name in ("base", "wanted_base", "last")},
            **{name: In(STRIDE_BITS) for name in ("stride", "wanted_stride")},
            **{name: In(lanes) for name in ("mask", "wanted")},
            **{name: Out(1) for name in ("perfect", "meets")},
        }
        if self._merges:
            members |= {"ahead": Out(lanes), "behind": Out(max(1, lanes - 1)), "distance": Out(index_bits(lanes))}
        if takes_multiples(cfg):
            members |= {"multiples": In(multiple_bits(cfg) * max(1, lanes - 1))}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """One subtraction, for loads and stores."""
        m = Module()
        bits = multiple_bits(self._cfg)
        apart = Signal(WORD_BITS + 1, name="apart")
        same, back = named(m, "same", self.base == self.wanted_base), apart[-1]
        suits = named(m, "suits", self.valid & (self.stride == self.wanted_stride))
        spread = named(m, "spread", (self._cfg.lanes - 1) * self.stride)[:bits]
        inside = ~apart[bits:-1].any() & (apart[:bits] <= spread)
        m.d.comb += [
            apart.eq(self.wanted_base - self.base),
            self.perfect.eq(suits & same & ~(self.wanted & ~self.mask).any()),
            self.meets.eq(self.valid & (self.base <= self.last) & (back | inside)),
        ]
        if self._merges:
            self._merge(m, named(m, "back", back), apart[:-1], suits, same)
        return m

    def _merge(self, m: Module, back: Value, apart: Value, suits: Value, same: Value) -> None:
        """Which multiple the distance is; one more than the greatest number of ``multiple_bits`` is none of them."""
        bits, lanes = multiple_bits(self._cfg), self._cfg.lanes
        near = named(m, "near", ~(apart[bits:] ^ back.replicate(WORD_BITS - bits)).any() & suits & ~same)
        size = named(m, "size", (apart[:bits] ^ back.replicate(bits)) + back)
        factors = self._shifted if self._cfg.strides == "powers" else self._compared
        hits = named(m, "hits", factors(m, size)) if lanes > 1 else Const(0, 1)
        ahead, behind = (
            named(m, name, hits & (near & side).replicate(len(hits)))
            for name, side in (("hits_ahead", ~back), ("hits_behind", back))
        )
        m.d.comb += [
            self.ahead.eq(Cat(suits & same, ahead)),
            self.behind.eq(behind),
            self.distance.eq(encode(Cat(Const(0, 1), ahead | behind)[:lanes], index_bits(lanes))),
        ]

    def _compared(self, m: Module, size: Value) -> Value:
        """Which multiple of the stride it is, from the first one on."""
        bits = multiple_bits(self._cfg)
        return Cat(size == self.multiples.word_select(factor, bits) for factor in range(self._cfg.lanes - 1))

    def _shifted(self, m: Module, size: Value) -> Value:
        """The same of a power of two: what is above its place, if nothing is below."""
        stride, few = self.wanted_stride, index_bits(self._cfg.lanes)
        factor = named(m, "factor", select(stride, [size[place:] for place in range(STRIDE_BITS)]))
        below = Cat(stride[place + 1 :].any() for place in range(STRIDE_BITS - 1))
        no = named(m, "no_multiple", (size[: STRIDE_BITS - 1] & below).any() | factor[few:].any())
        return decode(factor[:few], self._cfg.lanes)[1:] & ~no.replicate(self._cfg.lanes - 1)
