"""Comments of Verilog modules of SRAMs about the times of their accesses."""

from warpfile.spec.config import Config

RULES_1RW = """\
// An access is a read or a write, so no row is read and written in one cycle.
"""


def use_times(cfg: Config) -> str:
    """When data of a read are used, and how close accesses of a port are."""
    if cfg.bank_occupancy == "one" and cfg.gives.cycles > 1:
        return (
            "// A read enabled in cycle t is used in cycle t + 1 only: registers behind it keep what is due later.\n"
            "// Every cycle may have an access.\n"
        )
    if cfg.gives.cycles != cfg.bank_cycles:
        return "// A read enabled in cycle t is used in one cycle, from t + 1 on: a macro holds it so long.\n"
    if cfg.bank_cycles == 1:
        return "// A read enabled in cycle t is used in cycle t + 1 only. Every cycle may have an access.\n"
    return (
        f"// A read enabled in cycle t is used in cycle t + {cfg.bank_cycles} only: a macro may take that long.\n"
        f"// Enables of one port are {cfg.bank_cycles} or more cycles apart.\n"
    )
