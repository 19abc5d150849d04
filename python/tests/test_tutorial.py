"""The notebook of the folder of examples: its form, and that it runs with the outputs it shows.

Outputs are stored, so that the notebook can be read without running it. They are short, and equal to
those of a run, on every machine. Cells whose outputs depend on the machine have the tag ``varies``,
and no stored outputs. In the folder ``python``, with the extra ``notebook``,

    WARPINT_UPDATE=1 python -m pytest tests/test_tutorial.py

stores the outputs of a run.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

# Those of the packages that run the notebook; warnings in its cells are outputs.
pytestmark = [pytest.mark.notebook, pytest.mark.filterwarnings("ignore")]

NOTEBOOK = Path(__file__).parents[1] / "examples" / "tutorial.ipynb"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

Cell = dict[str, Any]


def stored() -> Any:
    """Return the notebook as it is in the folder."""
    return nbformat.read(NOTEBOOK, as_version=4)


def varies(cell: Cell) -> bool:
    """Whether the outputs of a cell depend on the machine."""
    return "varies" in cell["metadata"].get("tags", [])


def text_of(cell: Cell) -> str:
    """Return the text that a cell prints, and that of its result."""
    return "".join(
        output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
        for output in cell["outputs"]
    )


def test_form() -> None:
    notebook = stored()
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    names = [cell["id"] for cell in notebook.cells]
    assert len(set(names)) == len(names) > 40
    # Editors make random ids. Those of this notebook are words, which do not change.
    odd = [name for name in names if not re.fullmatch("[a-z]+(-[a-z]+)*", name)]
    assert not odd, f"give the cells {odd} ids that say what they are about"
    assert "constant time" in notebook.cells[0]["source"]
    # As this test writes it, so that a change of one cell is a change of its lines only.
    is_normal = NOTEBOOK.read_text(encoding="utf-8") == written(notebook)
    assert is_normal, "WARPINT_UPDATE=1 writes the notebook in its normal form"


def test_cells_have_assertions_or_short_outputs() -> None:
    for cell in stored().cells:
        if cell["cell_type"] != "code":
            continue
        name = cell["id"]
        assert cell["execution_count"] is None, name
        assert cell["outputs"] or varies(cell), f"{name} shows nothing"
        assert not (cell["outputs"] and varies(cell)), f"{name} varies, but has stored outputs"
        assert name == "device" or "assert " in cell["source"], f"{name} compares nothing"
        assert {output["output_type"] for output in cell["outputs"]} <= {"stream", "execute_result"}
        text = text_of(cell)
        assert len(text) < 1000 and text.count("\n") < 15, f"the outputs of {name} are long"


def written(notebook: Any) -> str:
    """Return the text of the file. Only texts of outputs that do not vary are stored."""
    for cell in notebook.cells:
        if cell["cell_type"] != "code":
            continue
        cell["execution_count"] = None
        cell["metadata"].pop("execution", None)
        if varies(cell):
            cell["outputs"] = []
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = None
    notebook.metadata = METADATA
    return str(nbformat.writes(notebook)) + "\n"


def test_runs_with_the_outputs_that_are_stored(tmp_path: Path) -> None:
    notebook = stored()
    expected = {c["id"]: text_of(c) for c in notebook.cells if c["cell_type"] == "code"}
    # An exception in a cell is one here, with the cell and its traceback. A cell that takes longer
    # than this hangs: without other load, all take some seconds.
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    if os.environ.get("WARPINT_UPDATE"):
        NOTEBOOK.write_text(written(notebook), encoding="utf-8")
        return
    for cell in notebook.cells:
        if cell["cell_type"] != "code":
            continue
        streams = {output.get("name") for output in cell["outputs"]}
        assert "stderr" not in streams, f"{cell['id']}: {json.dumps(cell['outputs'])}"
        if not varies(cell):
            assert text_of(cell) == expected[cell["id"]], cell["id"]
    assert not list(tmp_path.iterdir()), "the notebook leaves files behind"
