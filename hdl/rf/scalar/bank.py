"""A bank of words beside a register bank (docs/schemes/scalar.md, section 4)."""

from warpfile.hdl.rf.bank import Bank
from warpfile.hdl.rf.engines import Engines
from warpfile.spec.schemes.scalar import ScalarConfig


class ScalarBank(Bank):
    """A bank of words, each of which is written as a whole.

    Members
    -------
    As in :class:`hdl.rf.bank.Bank` for one lane, without ``masks``.
    """

    masked = False

    def __init__(self, cfg: ScalarConfig, engines: Engines = ()) -> None:
        super().__init__(cfg.replace(lanes=1), engines)
