"""A register file that uses everything that only some need: kernel, descriptor, late launches, operands, sweeps.

Its start takes three cycles. After a launch it takes none for two cycles. A pseudo-instruction with operand n
holds its warp in the cycle after its issue and n cycles more. A slot is given back ``pause`` + 1 cycles after its EXIT;
``pause`` is in the descriptor. It is quiet while it holds no warp and no slot is being returned.
"""
