"""Accel-Sim traces: text of the NVBit tracer, versions 2 to 6, also as ``.tracez``, to annotated traces, and back.

``docs/trace.md`` lists what such a trace has, what is rebuilt and what stays unknown.
"""

from warpfile.compiler.accelsim.errors import AccelsimError
from warpfile.compiler.accelsim.exporting import export_trace
from warpfile.compiler.accelsim.flow import has_aliases, observed_edges
from warpfile.compiler.accelsim.importing import Imported, import_kernel, kernel_name
from warpfile.compiler.accelsim.kernelslist import kernel_files

__all__ = [
    "AccelsimError",
    "Imported",
    "export_trace",
    "has_aliases",
    "import_kernel",
    "kernel_files",
    "kernel_name",
    "observed_edges",
]
