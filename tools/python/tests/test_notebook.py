# SPDX-License-Identifier: MIT
"""docs/notebook.ipynb runs, and shows the page of each operation."""
import re

import nbformat
import pytest
from nbclient import NotebookClient


@pytest.fixture
def place(request, monkeypatch):
    """Where the notebook has its store in S3; None: there is no gateway."""
    try:
        gateway = request.getfixturevalue("gateway")
    except pytest.skip.Exception:
        return None
    gateway.client().create_bucket(Bucket="notebook")
    for name, value in gateway.environment().items():
        monkeypatch.setenv(name, value)
    return "s3://notebook/study.zarr"


def test_notebook(checkout, place, tmp_path, monkeypatch):
    notebook = nbformat.read(checkout / "docs/notebook.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    # It is committed as it was written.
    assert all(cell.outputs == [] for cell in cells)
    monkeypatch.setenv("RADIO_NOTEBOOK_S3", place or "")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    NotebookClient(notebook, timeout=600, kernel_name="python3",
                   resources={"metadata": {"path": tmp_path}}).execute()
    shown = {}
    for cell in cells:
        if name := re.match(r"%%radio (\w+)\n", cell.source):
            shown[name[1]] = cell.outputs[-1].data
    assert [*shown] == ["ingest", "whole", "planes", "boxes", "remote"]
    for name, data in shown.items():
        assert data["text/html"].startswith("<iframe sandbox=")
        assert data["text/plain"].startswith("radio profile: In [")
        for scope in {"planes": ["step", "read"], "ingest": ["ingest"],
                      "boxes": ["normalise", "read"], "whole": ["read"],
                      "remote": ["copy", "~> "] if place else []}[name]:
            assert scope in data["text/plain"], name
    found = cells[[*shown].index("remote") + 2].outputs[0].text
    assert re.search(r"^\w+: .+: .+$", found, re.M)
