"""The notebook of examples/ runs as it stands, in the kernel that Jupyter would use."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "first_look.ipynb"


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, and the Python of the tests as the only kernel of Jupyter."""
    kernel = tmp_path / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    command = f'["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"]'
    (kernel / "kernel.json").write_text(f'{{"argv": {command}, "display_name": "Python 3", "language": "python"}}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return tmp_path


def executed(notebook: NotebookNode, folder: Path) -> list[str]:
    """What every cell of code shows."""
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(one.data["text/plain"] for one in cell.outputs if "data" in one) for cell in cells]


@pytest.mark.check
@pytest.mark.filterwarnings("default")
def test_every_cell_runs_and_shows_something(python: Path) -> None:
    shown = executed(nbformat.read(NOTEBOOK, as_version=4), python)
    assert all(shown) and "baseline" in shown[0]
    assert "active" in shown[1] and "bow_wr" in shown[3]


@pytest.mark.filterwarnings("default")
def test_a_cell_that_fails_is_found(python: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells = notebook.cells[:2]
    notebook.cells[1].source = "import warpfile\nwarpfile.simulate('nonsense', 'saxpy')"
    with pytest.raises(CellExecutionError, match="SCHEME must be one of"):
        executed(notebook, python)


def test_the_notebook_is_kept_without_what_a_run_leaves() -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
