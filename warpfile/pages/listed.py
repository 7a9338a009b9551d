"""Which kernels the figures of a page are of: kernels are added more often than pages are written."""

from __future__ import annotations

from collections.abc import Collection

#: Kernels that a version had, of those that pages were written with.
VERSIONS = {
    "0.2.0": frozenset(
        "bfs_step bitonic_sort bits bytecode bytes_vector calls chacha collatz conv2d conv_layer cross_sections"
        " depthwise_conv divide divide_double fdtd fft64 half2 histogram kmeans mathlib matmul_2mm matmul_3mm"
        " matmul_registers matmul_tiled nbody particle_boxes random_walk ray_march saxpy scan spmv stencil tensor"
        " unrolled_poly warp_reduce wide_accumulate".split()
    ),
}


def listed(kernels: Collection[str]) -> str:
    """What a page says of its kernels: ``the 36 kernels of version 0.2.0``, or the number of those bundled."""
    version = next((version for version, names in VERSIONS.items() if names == set(kernels)), None)
    return f"the {len(kernels)} kernels of version {version}" if version else f"{len(kernels)} bundled kernels"
