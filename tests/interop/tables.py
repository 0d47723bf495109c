# SPDX-License-Identifier: MIT
"""Tables by radio's API: read into lists, and committed."""

import ctypes as c
import json

import numpy as np
from radio_library import DTYPES, Strings, check, lib, list_strings

TYPES = ["bool", "integer", "float", "text"]
DTYPE_OF = {"bool": "bool", "integer": "int64", "float": "float64"}


class TableInfo(c.Structure):
    _fields_ = [("path", c.c_char_p), ("generation", c.c_char_p),
                ("head", c.c_uint64), ("row_count", c.c_uint64),
                ("column_count", c.c_size_t), ("index_name", c.c_char_p),
                ("attributes_json", c.c_char_p)]


class ColumnInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("type", c.c_int), ("dtype", c.c_int),
                ("may_be_missing", c.c_bool), ("is_categorical", c.c_bool),
                ("is_ordered", c.c_bool), ("category_count", c.c_uint64),
                ("attributes_json", c.c_char_p)]


class Cells(c.Structure):
    _fields_ = [("column", c.c_char_p), ("type", c.c_int),
                ("values", c.c_void_p), ("dtype", c.c_int),
                ("text", c.POINTER(Strings)), ("valid", c.c_void_p),
                ("attributes_json", c.c_char_p), ("change_type", c.c_bool),
                ("keep_existing", c.c_bool), ("reserved", c.c_uint64 * 6)]


class Held:
    """Strings, with the memory that they point to."""

    def __init__(self, values):
        parts = [value.encode() for value in values]
        self.ends = np.cumsum([0] + [len(part) for part in parts],
                              dtype=np.int64)
        self.data = c.create_string_buffer(b"".join(parts))
        self.strings = Strings(len(parts),
                               self.ends.ctypes.data_as(c.POINTER(c.c_int64)),
                               c.cast(self.data, c.c_void_p))


def take(strings):
    values = list_strings(strings)
    lib.radio_strings_free(c.byref(strings))
    return values


class Column:
    def __init__(self, table, number, nrows):
        info = ColumnInfo()
        check(lib.radio_table_get_column(table, c.c_size_t(number),
                                         c.byref(info),
                                         c.c_size_t(c.sizeof(info))))
        self.name = info.name.decode()
        self.type = TYPES[info.type]
        self.dtype = DTYPES[info.dtype]
        self.is_ordered = info.is_ordered
        self.attributes = json.loads(info.attributes_json)
        self.categories = None
        text, valid = Strings(), np.zeros(nrows, bool)
        if self.type == "text":
            check(lib.radio_table_read_text(
                table, c.c_size_t(number), c.byref(text),
                valid.ctypes.data_as(c.c_void_p)))
            self.values = take(text)
        else:
            self.values = np.zeros(nrows, self.dtype)
            check(lib.radio_table_read(
                table, c.c_size_t(number), 0,
                self.values.ctypes.data_as(c.c_void_p),
                c.c_size_t(self.values.nbytes),
                valid.ctypes.data_as(c.c_void_p)))
        self.valid = valid
        if info.is_categorical:
            check(lib.radio_table_read_categories(table, c.c_size_t(number),
                                                  c.byref(text)))
            self.categories = take(text)


class Table:
    """All of a table, read."""

    def __init__(self, store, path):
        table, info, ids = c.c_void_p(), TableInfo(), Strings()
        check(lib.radio_table_open(store.handle, path.encode(),
                                   c.byref(table)))
        try:
            lib.radio_table_get_info(table, c.byref(info),
                                     c.c_size_t(c.sizeof(info)))
            check(lib.radio_table_read_ids(table, c.byref(ids)))
            self.ids = take(ids)
            self.index_name = info.index_name.decode()
            self.generation = info.generation.decode()
            self.head = info.head
            self.columns = {}
            for number in range(info.column_count):
                column = Column(table, number, info.row_count)
                self.columns[column.name] = column
        finally:
            lib.radio_table_close(table)


def commit(store, path, ids, columns, attributes={}):
    """Commits rows and columns: name -> (type, values), None for missing."""
    edit, held = c.c_void_p(), Held(ids)
    check(lib.radio_table_edit_new(store.handle, path.encode(),
                                   c.byref(edit)))
    try:
        check(lib.radio_table_edit_add_rows(edit, c.byref(held.strings)))
        for name, (kind, values) in columns.items():
            valid = np.array([value is not None for value in values], bool)
            cells = Cells(column=name.encode(), type=TYPES.index(kind),
                          valid=valid.ctypes.data)
            if name in attributes:
                cells.attributes_json = json.dumps(attributes[name]).encode()
            if kind == "text":
                text = Held([value or "" for value in values])
                cells.text = c.pointer(text.strings)
            else:
                numbers = np.array([value or 0 for value in values],
                                   DTYPE_OF[kind])
                cells.values = numbers.ctypes.data
                cells.dtype = DTYPES.index(DTYPE_OF[kind])
            check(lib.radio_table_edit_set(edit, c.byref(held.strings),
                                           c.byref(cells)))
        check(lib.radio_table_edit_commit(edit, None, c.c_size_t(0)))
    finally:
        lib.radio_table_edit_free(edit)


class SelectOptions(c.Structure):
    _fields_ = [("where", c.c_char_p), ("collection", c.c_char_p),
                ("subjects", c.c_bool), ("reserved", c.c_uint64 * 5)]


def select(store, where, **options):
    """Returns the ids that a query selects of the tables of a store."""
    cohort, view = c.c_void_p(), c.c_void_p()
    how = SelectOptions(where.encode(), **options)
    lib.radio_view_count.restype = c.c_uint64
    lib.radio_view_id.restype = c.c_char_p
    check(lib.radio_cohort_open(store.handle, c.byref(cohort)))
    try:
        check(lib.radio_cohort_select(cohort, c.byref(how), c.byref(view),
                                      None))
        n = lib.radio_view_count(view)
        return [lib.radio_view_id(view, c.c_uint64(i)).decode()
                for i in range(n)]
    finally:
        lib.radio_view_free(view)
        lib.radio_cohort_close(cohort)


SUBJECTS = ("participant_id\tage\tsite\tsmoker\n"
            "sub-1\t61\ta\ttrue\nsub-2\t18\tb\tn/a\n")


def make_bids(radio, folder):
    """Writes images and masks of two subjects, and their table."""
    for suffix in ("T1w", "mask"):
        for subject in ("sub-1", "sub-2"):
            image = folder / subject / "anat" / f"{subject}_{suffix}.nii"
            image.parent.mkdir(parents=True, exist_ok=True)
            radio("phantom", "-s", folder / "local.zarr",
                  f"{suffix}/{subject}", "--size", "16")
            radio("export", "-s", folder / "local.zarr",
                  f"{suffix}/{subject}", "-o", image)
    (folder / "participants.tsv").write_text(SUBJECTS)


def ingest_bids(radio, folder, store, **how):
    """Ingests them, and imports the table."""
    radio("ingest", "-q", "-s", store, "--layout", "bids", folder, **how)
    radio("table", "-q", "-s", store, "--import", folder / "participants.tsv",
          **how)
