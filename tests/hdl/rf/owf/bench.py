"""What the tests of shared registers have in common."""

from warpfile.schemes import find


def config(**changes):
    """The small machine with 16 register names and 8 warps, unless changed."""
    return find("owf").configuration("tiny", **{"register_names": 16, "warps": 8, "lanes": 1} | changes)
