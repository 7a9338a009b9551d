"""A plain register file in which accesses of odd rows take ``stripe`` cycles more than ``bank_cycles``."""
