# SPDX-License-Identifier: MIT
"""The examples of docstrings and of README.md run."""
import doctest
import importlib
import pkgutil
import re

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


def test_readme(in_examples, checkout):
    text = (checkout / "README.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text,
                        re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    names = {}
    exec(blocks[0], names)
    assert names["box"].shape == (16, 48)


def test_every_public_name_is_documented():
    for name in libradio.__all__:
        assert getattr(libradio, name).__doc__
    for kind in [libradio.Store, libradio.Volume]:
        for name, member in vars(kind).items():
            if not name.startswith("_"):
                assert member.__doc__, name
