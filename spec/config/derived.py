"""Widths, counts and ports that follow from the parameters."""

from __future__ import annotations

from warpfile.spec.config.parameters import PORTS, Parameters


def index_bits(count: int) -> int:
    """Width of an index into ``count`` places; at least one bit, so that no signal vanishes."""
    return max(1, (count - 1).bit_length())


class Derived(Parameters):
    """What the parameters alone decide, whatever the parts."""

    @property
    def banks_by_bits(self) -> bool:
        """Whether bank and row are bits of a place's number, because there are a power of two of banks."""
        return not self.banks & (self.banks - 1)

    @property
    def has_places(self) -> bool:
        """Whether the scheduler has places: only warps that hold one issue, and the file is asked to let go of one."""
        return self.scheduler == "two_level"

    @property
    def sees_misses(self) -> bool:
        """Whether the machine is told of loads that miss."""
        return self.has_places and self.long_from == "miss"

    @property
    def sees_outstanding(self) -> bool:
        """Whether the scheduler asks if any load of a warp is out, whatever its head beat."""
        return self.has_places and self.resume == "all"

    @property
    def port_bits(self) -> int:
        """Width of a beat's execution port; all ones stands for none."""
        return max(2, self.ports.bit_length())

    @property
    def port_of(self) -> tuple[int, ...]:
        """Execution port of every class of unit, by ``spec.trace.Port``; all ones for NONE."""
        none = (1 << self.port_bits) - 1
        return tuple(none if port < 0 else port for port in PORTS[self.ports])

    @property
    def write_ports(self) -> int:
        """Write-back ports."""
        return min(self.ports, self.write_back_ports)

    @property
    def write_port_of(self) -> tuple[int, ...]:
        """Write-back port of every execution port."""
        pairs = zip(PORTS[self.ports], PORTS[self.write_ports], strict=True)
        return tuple(back for _, back in sorted({pair for pair in pairs if pair[0] >= 0}))

    @property
    def transfer_cycles(self) -> int:
        """Cycles of ``lsu_interval`` in which the SM's LSU serves this domain."""
        return max(1, self.lsu_interval // self.domains)

    @property
    def place_count_bits(self) -> int:
        """Width of an active place's number."""
        return index_bits(self.active_warps)

    @property
    def warp_bits(self) -> int:
        """Width of a warp slot number."""
        return index_bits(self.warps)

    @property
    def cta_slots(self) -> int:
        """CTA slots of the domain: those of the SM, as far as it has warps for them, as every CTA here has a warp."""
        return min(self.ctas, self.warps)

    @property
    def cta_bits(self) -> int:
        """Width of a CTA slot number."""
        return index_bits(self.cta_slots)

    @property
    def register_bits(self) -> int:
        """Width of a register name."""
        return index_bits(self.register_names)

    @property
    def bank_bits(self) -> int:
        """Width of a bank number."""
        return index_bits(self.banks)

    @property
    def row_bits(self) -> int:
        """Width of a row number."""
        return index_bits(self.rows)

    @property
    def data_bits(self) -> int:
        """Bits of one warp register as built: lanes x 32."""
        return self.lanes * 32

    @property
    def place_bits(self) -> int:
        """Width of a place number: bank and row of a warp register in one."""
        return index_bits(self.banks * self.rows)

    def allocated(self, registers: int) -> int:
        """Registers that a thread of a kernel with so many is given."""
        return -(-registers // self.register_unit) * self.register_unit
