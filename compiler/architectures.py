"""Which GPUs' code is read and executed.

All of sm_7x and sm_8x have instructions of one form and parameters at the same place of constant bank 0. From sm_90 on
parameters, and much of the code, are elsewhere.
"""

from __future__ import annotations

TARGET = 75
EXECUTED = range(70, 90)
SUPPORTED = f"supported is sm_{TARGET}, and of sm_{EXECUTED[0]} to sm_{EXECUTED[-1]} what is the same there"


def remark(architecture: int | None) -> str | None:
    """What is to be said of code for this GPU; None for the target and where a listing does not tell."""
    return None if architecture in (None, TARGET) else f"code is for sm_{architecture}; {SUPPORTED}"


def is_executed(architecture: int | None) -> bool:
    """Whether a launch may run it; what a listing does not tell may."""
    return architecture is None or architecture in EXECUTED
