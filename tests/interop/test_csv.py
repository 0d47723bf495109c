# SPDX-License-Identifier: MIT
"""Text tables are read as pandas reads them, and split into cells as Python's
csv does; what Python writes is read back."""

import csv
import ctypes as c
import io
import math
import random

import pytest
from conftest import peer
from radio_library import RadioError, Strings, check, lib, list_strings
from tables import TYPES, Cells


class Info(c.Structure):
    _fields_ = [("row_count", c.c_uint64), ("column_count", c.c_size_t),
                ("separator", c.c_char)]


class Column(c.Structure):
    _fields_ = [("name", c.c_char_p), ("type", c.c_int),
                ("missing_count", c.c_uint64),
                ("attributes_json", c.c_char_p)]


def read_csv(text):
    """Returns {name: (type, values, None where missing)}, and the cells of
    each column as text."""
    data = text if isinstance(text, bytes) else text.encode()
    handle, info, column, cells, raw = (c.c_void_p(), Info(), Column(),
                                        Cells(), Strings())
    check(lib.radio_csv_parse(data, c.c_size_t(len(data)), b"t", None,
                              c.byref(handle)))
    try:
        lib.radio_csv_get_info(handle, c.byref(info), c.sizeof(info))
        columns, texts = {}, []
        for i in range(info.column_count):
            number = c.c_size_t(i)
            check(lib.radio_csv_get_column(handle, number, c.byref(column),
                                           c.c_size_t(c.sizeof(column))))
            check(lib.radio_csv_read(handle, number, c.byref(cells)))
            check(lib.radio_csv_read_text(handle, number, c.byref(raw)))
            texts.append([column.name.decode(), *list_strings(raw)])
            lib.radio_strings_free(c.byref(raw))
            n, kind = info.row_count, TYPES[column.type]
            valid = (c.c_bool * n).from_address(cells.valid)
            values = list_strings(cells.text[0]) if kind == "text" else list((
                {"bool": c.c_bool, "integer": c.c_int64,
                 "float": c.c_double}[kind] * n).from_address(cells.values))
            values = [v if ok else None for v, ok in zip(values, valid)]
            assert column.missing_count == values.count(None)
            columns[column.name.decode()] = kind, values
        return columns, texts
    finally:
        lib.radio_csv_close(handle)


def draw_column(rng, n):
    """Cells of one kind, some of them missing."""
    kinds = {
        "bool": lambda: rng.choice(["true", "false", "True", "FALSE"]),
        "integer": lambda: str(rng.randint(-2**63, 2**63 - 1)
                               if rng.random() < .1
                               else rng.randint(-200, 200)),
        "float": lambda: rng.choice([
            repr(rng.uniform(-1e3, 1e3)), f"{rng.gauss(0, 1):.3f}",
            repr(rng.uniform(0, 1) * 10.0**rng.randint(-300, 300)),
            f"{rng.random():.25f}", "5", "-0.0", "inf", "1e5", ".25"]),
        "text": lambda: rng.choice([
            "M", "F", "sub-01", 'a "quoted" word', "a,b", "a\tb", "two\nlines",
            "\u00fc\u20ac\U0001f9e0", "x" * 500, "-", "=1+1"]),
    }
    kind = rng.choice(list(kinds))
    cells = [kinds[kind]() if rng.random() < .9 else rng.choice(["", "n/a"])
             for _ in range(n)]
    cells[rng.randrange(n)] = kinds[kind]() if kind != "float" else "0.5"
    return kind, cells


@pytest.mark.parametrize("separator", [",", "\t"])
def test_columns_are_those_of_pandas(separator):
    pandas = peer("pandas")
    rng = random.Random(separator)
    for _ in range(40):
        n = rng.randint(1, 60)
        drawn = [draw_column(rng, n) for _ in range(rng.randint(1, 8))]
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=separator,
                            lineterminator=rng.choice(["\n", "\r\n"]),
                            quoting=rng.choice([csv.QUOTE_MINIMAL,
                                                csv.QUOTE_ALL]))
        writer.writerow([f"column {i}" for i in range(len(drawn))])
        writer.writerows(zip(*[cells for _, cells in drawn]))
        text = out.getvalue()
        columns, _ = read_csv(text)
        frame = pandas.read_csv(
            io.BytesIO(text.encode()), sep=separator, keep_default_na=False,
            na_values=["", "n/a"], float_precision="round_trip",
            skip_blank_lines=True)
        for (kind, _), (name, (got, values)) in zip(drawn, columns.items()):
            assert got == kind
            theirs = frame[name]
            missing = theirs.isna().tolist()
            assert [v is None for v in values] == missing
            for value, other, is_missing in zip(values, theirs, missing):
                if is_missing:
                    continue
                if kind == "integer" and any(missing):
                    assert float(value) == other    # pandas has made floats
                else:
                    assert value == other and (
                        kind != "float" or
                        math.copysign(1, value) == math.copysign(1, other))


def test_cells_are_those_of_pythons_csv():
    """Random text of the characters that matter: what both accept is split into
    the same cells."""
    rng = random.Random(7)
    accepted = 0
    for _ in range(4000):
        text = "a,b\n" + "".join(rng.choices('ab",\n\r ', k=rng.randint(0, 14),
                                             weights=[3, 2, 3, 3, 2, 1, 1]))
        try:
            _, texts = read_csv(text)
        except RadioError:
            continue
        rows = [row for row in csv.reader(io.StringIO(text, newline=""))
                if row]
        # Blanks alone are missing.
        rows = [[cell if cell.strip(" ") else "" for cell in row]
                for row in rows]
        assert [list(row) for row in zip(*texts)] == rows, text
        accepted += 1
    assert accepted > 400


def test_a_cohort_of_500_subjects(np):
    pandas = peer("pandas")
    rng = np.random.default_rng(5)
    n = 500
    frame = pandas.DataFrame({
        "participant_id": [f"sub-{i:03}" for i in range(n)],
        "age": rng.integers(18, 90, n).astype(object),
        "weight": rng.normal(70, 10, n),
        "sex": rng.choice(["M", "F", "O"], n),
        "control": rng.random(n) < .5,
    })
    for name in ["age", "weight", "sex", "control"]:
        frame[name] = frame[name].astype(object)
        frame.loc[rng.choice(n, 50, replace=False), name] = None
    text = frame.to_csv(sep="\t", index=False, na_rep="n/a")
    columns, _ = read_csv(b"\xef\xbb\xbf" + text.replace("\n", "\r\n")
                          .encode())
    assert [kind for kind, _ in columns.values()] == [
        "text", "integer", "float", "text", "bool"]
    for name, (_, values) in columns.items():
        assert values == [None if pandas.isna(v) else v for v in frame[name]]
