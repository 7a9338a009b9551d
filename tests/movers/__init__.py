"""A plain register file that moves rows: a pseudo-instruction with operand n swaps the homes of R(2n) and R(2n + 1).

Its warp has nothing in flight then, and is held until the swap is done. ``rest`` cycles after the operand the file
reads both rows, one after the other, and writes them crosswise: whole rows, or with ``halves`` first the lower half of
the lanes of each and then the upper one. The new homes hold from the cycle after the last write. Every warp is a client
of its own of engine ``fetch``, which reads, and of engine ``store``, which writes; with ``store`` = ``fetch`` one
engine does both.
"""
