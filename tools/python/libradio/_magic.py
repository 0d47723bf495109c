# SPDX-License-Identifier: MIT
"""The cell magic %%radio, of IPython and Jupyter."""
import ast
import inspect
import keyword
from types import CodeType
from typing import Any

from .errors import ArgumentError, UnsupportedError
from .profiling import Profile, profile

USAGE = "%%radio [--python] [NAME]"


def radio(line: str, cell: str, shell: Any) -> Profile:
    """Runs a cell, shows what its last line gives, and returns its profile,
    which is also put into the variable NAME, if there is one:

    %%radio [--python] [NAME]

    A cell that awaits has to use ``with libradio.profile() as NAME`` instead.

    --python: functions of Python are scopes, too; needs Python 3.12.
    """
    words = line.split()
    python = "--python" in words
    if python:
        words.remove("--python")
    name = "".join(words[:1])
    if len(words) > 1 or words and (not name.isidentifier()
                                    or keyword.iskeyword(name)):
        raise ArgumentError(f"{line!r}: is no name of a variable; use {USAGE}")
    # IPython 9 counts the cell before it runs it.
    running = shell.displayhook.exec_result
    number = running and running.execution_count or shell.execution_count
    body, last = _compile(cell, number, shell)
    made = profile(f"In [{number}]", python=python)
    namespace = shell.user_ns           # looking it up would be recorded
    try:
        with made:
            exec(body, namespace)
            value = None if last is None else eval(last, namespace)
    finally:
        # A cell that fails leaves its profile, too.
        if name:
            namespace[name] = made
    if value is not None:
        from IPython.display import display
        display(value)
    return made


def _compile(cell: str, number: int, shell: Any) -> tuple[Any, Any]:
    """Returns the code of all statements, and of an expression at the end."""
    # As IPython runs a cell, so that traces show its lines: without blank ones
    # before the first.
    code = shell.transform_cell(cell)
    file = shell.compile.cache(code, number, raw_code=cell)
    tree = shell.compile.ast_parse(code, filename=file)
    tree = shell.transform_ast(tree)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not (
            shell.displayhook.semicolon_at_end_of_expression(code)):
        last = _compile_tree(ast.Expression(tree.body.pop().value), file,
                             "eval")
    return _compile_tree(tree, file, "exec"), last


def _compile_tree(tree: Any, file: str, mode: str) -> CodeType:
    code: CodeType = compile(tree, file, mode,
                             ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    # A magic is called while the notebook's event loop runs.
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise UnsupportedError("%%radio: the cell awaits; use `with"
                               " libradio.profile() as p:` in it instead")
    return code


def register(shell: Any) -> None:
    """Makes %%radio known."""
    def run(line: str, cell: str) -> Profile:
        return radio(line, cell, shell)
    run.__doc__ = radio.__doc__
    shell.register_magic_function(run, "cell", "radio")
