"""What the SRAM of a bank says of the times at which it is used, to whoever replaces it by a macro."""

import pytest

from tests.striped.scheme import StripedConfig
from warpfile.hdl.rams.bank import ram_verilog
from warpfile.spec.config import Config

EVERY = "Every cycle may have an access."


@pytest.mark.parametrize(
    ("cfg", "says", "every"),
    [
        (Config(), "used in cycle t + 1 only.", True),
        (Config(bank_occupancy="one"), "used in cycle t + 1 only.", True),
        (Config(bank_cycles=3), "used in cycle t + 3 only", False),
        (StripedConfig(stripe=2), "used in one cycle, from t + 1 on", False),
        (Config(bank_cycles=3, bank_occupancy="one"), "used in cycle t + 1 only: registers behind it keep", True),
        (StripedConfig(stripe=2, bank_occupancy="one"), "used in cycle t + 1 only: registers behind it keep", True),
    ],
)
def test_when_a_row_is_used_and_how_often_there_is_an_access(cfg, says, every):
    text = ram_verilog(cfg)
    assert says in text
    assert (EVERY in text) == every
