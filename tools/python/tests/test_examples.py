# SPDX-License-Identifier: MIT
"""The examples of docstrings and of README.md run, and have right types."""
import doctest
import importlib
import json
import pkgutil
import re
import shutil
import subprocess
import sys
from textwrap import indent

import mypy.api
import pytest

import libradio

MODULES = ["libradio", *(f"libradio.{module.name}" for module
                         in pkgutil.iter_modules(libradio.__path__)
                         if not module.name.startswith("_"))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(in_examples, name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, report=True)
    assert result.failed == 0
    if name in ("libradio.volume", "libradio.store", "libradio.writing"):
        assert result.attempted > 0


def readme(checkout):
    """Returns the example of the project's README.md."""
    text = (checkout / "README.md").read_text()
    block, = re.findall(r"^```python\n(.*?)^```", text,
                        re.DOTALL | re.MULTILINE)
    return block


def test_readme(in_examples, checkout):
    names = {}
    exec(readme(checkout), names)
    assert names["box"].shape == (16, 48)


# What examples lack: arrays where sequences are taken.
ARRAYS = """
import libradio, numpy
volume = libradio.open_file("a.nii")
at = numpy.array([1, 2, 3])
volume.box(at, (1, 2, 3))
volume.read_many([(at, at)], out=numpy.zeros((1, 1, 2, 3)))
store = libradio.open("a.zarr")
libradio.from_numpy(numpy.zeros(at), store, "a/b", affine=numpy.eye(4),
                    spacing=numpy.array([1, 1.5, 2]))
found = store.get("a/b")
found or store.get("a/c", volume).axial(numpy.int64(3))
"""


def notebook(checkout):
    """Returns the code of docs/notebook.ipynb; a cell that %%radio records is
    a with statement, which names the profile as well."""
    text = (checkout / "docs/notebook.ipynb").read_text()
    blocks = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"]) + "\n"
        if magic := re.match(r"%%radio (\w+)\n", source):
            source = (f"with libradio.profile() as {magic[1]}:\n"
                      + indent(source[magic.end():], "    "))
        if cell["cell_type"] == "code":
            blocks.append(re.sub("^%.*\n", "", source, flags=re.MULTILINE))
    return "".join(blocks)


@pytest.fixture(scope="module")
def examples_file(checkout, tmp_path_factory):
    """A module of all examples, each in a function."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    texts = [found.docstring for name in MODULES
             for found in finder.find(importlib.import_module(name))]
    texts.append((checkout / "tools/python/README.md").read_text())
    sources = ["".join(each.source for each in
                       doctest.DocTestParser().get_examples(text))
               for text in texts]
    sources = [*filter(None, sources), readme(checkout), notebook(checkout),
               ARRAYS]
    assert len(sources) > 10
    file = tmp_path_factory.mktemp("types") / "examples.py"
    file.write_text("".join(f"def example_{i}() -> None:\n"
                            + indent(source, "    ")
                            for i, source in enumerate(sources)))
    return file


def test_types_of_the_examples(checkout, examples_file, tmp_path):
    lines, errors, status = mypy.api.run([
        "--config-file", str(checkout / "tools/python/pyproject.toml"),
        "--cache-dir", str(tmp_path / "cache"), str(examples_file)])
    assert (errors, status) == ("", 0), lines


def test_types_by_pyright(checkout, examples_file):
    """Of the package and of its examples, as editors check them."""
    script = checkout / "build/python/npm/node_modules/pyright/index.js"
    if not script.is_file() or not shutil.which("node"):
        pytest.skip("pyright is not there: sh tools/check-python installs it"
                    " by npm")
    done = subprocess.run(
        ["node", script, "--pythonpath", sys.executable, "--level", "error",
         checkout / "tools/python/libradio", examples_file],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("0 errors")


def test_every_public_name_is_documented():
    for name in libradio.__all__:
        assert getattr(libradio, name).__doc__
    for kind in [libradio.Store, libradio.Volume]:
        for name, member in vars(kind).items():
            if not name.startswith("_"):
                assert member.__doc__, name
