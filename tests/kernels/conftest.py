"""Makes the folder ``kernels`` importable: it is data with scripts, and not among the installed packages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
