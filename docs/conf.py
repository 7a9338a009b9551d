"""The documentation site: ``make docs``."""

import tomllib
from pathlib import Path

project = "warpfile"
author = "The warpfile authors"
copyright = "the warpfile authors"
# Not that of the installed package, which an older checkout may have installed.
_PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
version = release = _PROJECT["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "sphinxcontrib.wavedrom"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["conf.py"]
myst_fence_as_directive = ["wavedrom"]
# Pictures, drawn here: by default a page loads a script from the network that draws them.
render_using_wavedrompy = True
wavedrom_html_jsinline = False
myst_heading_anchors = 4
# Most blocks are commands and timing tables, not Python.
highlight_language = "text"
smartquotes = False
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = f"warpfile {release}"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
