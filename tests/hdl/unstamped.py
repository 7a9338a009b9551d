"""Stands in for ``hdl.stamp.stamp`` where a simulator or a prover needs one tree."""


def inside(m, name, module, build, **_):
    """A repeated part as a submodule like any other."""
    m.submodules[name] = part = build()
    return part
