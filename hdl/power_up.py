"""Generated Verilog without initial values.

Silicon has none. Without them a simulator, too, shows what is read before reset or a write has set it: as unknown in
Icarus, as anything in a Verilator that is told to. Only names that make a block run at time 0 keep theirs: they are no
registers.
"""

from __future__ import annotations

import re

_INITIAL = re.compile(r"^( *reg (?:\[\d+:0\] )?(?:\\\S+ |\w+)) = \d+'[bdh][0-9a-f]+;$", re.MULTILINE)


def without_initial_values(verilog: str) -> str:
    """The same text with no initial value of any register, as yosys writes them."""
    return _INITIAL.sub(r"\1;", verilog)
