"""Hot registers of a kernel, for the register file in two partitions."""
