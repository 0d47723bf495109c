# SPDX-License-Identifier: MIT
"""Generated queries select the rows that pandas selects of the same tables,
where missing values have the logic of SQL (pandas' nullable types)."""

import ctypes as c
import random
import re

from conftest import peer
from radio_library import Store, check, lib
from tables import commit

SITES = ["A", "B", "b", "Zürich", "Zürich-2", "a b", 'q"uote', "x\\y", ""]
TYPES = {"bool": "boolean", "integer": "Int64", "float": "Float64",
         "text": "string"}
OPERATORS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt",
             ">=": "ge"}


class Options(c.Structure):
    _fields_ = [("where", c.c_char_p), ("collection", c.c_char_p),
                ("subjects", c.c_bool), ("reserved", c.c_uint64 * 5)]


lib.radio_view_count.restype = c.c_uint64
lib.radio_view_id.restype = c.c_char_p


def select(cohort, where, subjects, collection=None):
    view, options = c.c_void_p(), Options(where.encode(), collection, subjects)
    check(lib.radio_cohort_select(cohort, c.byref(options), c.byref(view),
                                  None))
    try:
        return [lib.radio_view_id(view, c.c_uint64(i)).decode()
                for i in range(lib.radio_view_count(view))]
    finally:
        lib.radio_view_free(view)


def draw_columns(rng, n):
    def some(draw):
        return [draw() if rng.random() < .85 else None for _ in range(n)]
    return {
        "age": ("integer", some(lambda: rng.randint(-3, 9))),
        "dose": ("integer", some(lambda: rng.choice([-2**40, 0, 5, 2**52]))),
        "weight": ("float", some(lambda: rng.choice(
            [-1.5, 0.0, 0.1, 3.0, 1e300, 5e-324]))),
        "smoker": ("bool", some(lambda: rng.random() < .5)),
        "site": ("text", some(lambda: rng.choice(SITES))),
        # More than 127 values, so no categories.
        "odd name": ("text", some(lambda: f"n{rng.randint(0, 999):03d}")),
    }


def frame(pandas, columns):
    return pandas.DataFrame({
        name: pandas.Series(values, dtype=TYPES[kind])
        for name, (kind, values) in columns.items()})


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def as_regex(pattern):
    return re.compile("".join({"*": ".*", "?": "."}.get(x, re.escape(x))
                              for x in pattern), re.DOTALL)


class Generator:
    """Draws conditions as text, each with what it is in a frame."""

    def __init__(self, rng, kinds, pandas, has=None):
        self.rng, self.kinds, self.pandas, self.has = rng, kinds, pandas, has

    def name(self, column):
        plain = column.replace(".", "").isidentifier()
        return column if plain else f"`{column}`"

    def value(self, kind):
        rng = self.rng
        if kind == "text":
            value = rng.choice([*SITES, "n5", "n500"])
            return quote(value), value
        if kind == "bool":
            value = rng.random() < .5
            return str(value).lower(), value
        value = rng.choice([-3, 0, 1, 5, 2**52, -2**40, 0.1, 2.5, 1e300])
        return repr(value), value

    def mask(self, result, *series):
        """Unknown where one of the series has no value."""
        result = result.astype("boolean")
        for one in series:
            result = result.mask(one.isna())
        return result

    def condition(self):
        rng, pandas = self.rng, self.pandas
        column = rng.choice(list(self.kinds))
        kind, name = self.kinds[column], self.name(column)
        choices = ["compare", "missing", "in", "pair"]
        choices += {"text": ["like"] * 2, "bool": ["truth"] * 2}.get(kind, [])
        choices += ["has"] * (self.has is not None)
        what = rng.choice(choices)
        no = rng.random() < .3
        if what == "compare":
            operator = rng.choice(["==", "!="] if kind == "bool"
                                  else list(OPERATORS))
            text, value = self.value(kind)
            method = OPERATORS[operator]
            return (f"{name} {operator} {text}", lambda f: self.mask(
                getattr(f[column], method)(value), f[column]))
        if what == "missing":
            return (f"{name} is {'not ' * no}missing", lambda f: (
                f[column].isna() ^ no).astype("boolean"))
        if what == "in":
            values = [self.value(kind) for _ in range(rng.randint(1, 4))]
            texts = ", ".join(text for text, _ in values)
            return (f"{name} {'not ' * no}in ({texts})", lambda f: self.mask(
                f[column].isin([v for _, v in values]) ^ no, f[column]))
        if what == "pair":
            others = [o for o in self.kinds if (self.kinds[o] == kind or {
                kind, self.kinds[o]} == {"integer", "float"})]
            other = rng.choice(others)
            operator = "==" if kind == "bool" else rng.choice(list(OPERATORS))
            method = OPERATORS[operator]
            return (f"{name}{operator}{self.name(other)}", lambda f: self.mask(
                getattr(f[column], method)(f[other]), f[column], f[other]))
        if what == "like":
            pattern = rng.choice(["*", "Z*", "?", "n?5*", "*h*", "Z?rich",
                                  "*5", "", "a b*"])
            regex = as_regex(pattern)
            return (f"{name} {'not ' * no}like {quote(pattern)}",
                    lambda f: self.mask(pandas.Series(
                        [bool(regex.fullmatch(v)) ^ no
                         for v in f[column].fillna("")]), f[column]))
        if what == "has":
            return ("has(seg)", lambda f: self.mask(
                f["subject"].isin(self.has), f["subject"]))
        return name, lambda f: f[column]

    def query(self, depth):
        kind = self.rng.choice(["or", "and", "not", "leaf"]) if depth else ""
        if kind == "not":
            text, inner = self.query(depth - 1)
            return f"not ({text})", lambda f: ~inner(f)
        if kind in ("or", "and"):
            a, left = self.query(depth - 1)
            b, right = self.query(depth - 1)
            if kind == "or":
                return f"({a}) or ({b})", lambda f: left(f) | right(f)
            return f"({a} ) and({b})", lambda f: left(f) & right(f)
        return self.condition()


def check_queries(generator, data, ids, run, n):
    """Returns how many queries selected some rows, but not all."""
    some = 0
    for _ in range(n):
        text, condition = generator.query(generator.rng.randint(0, 4))
        chosen = condition(data).fillna(False).astype(bool)
        wanted = [i for i, is_chosen in zip(ids, chosen) if is_chosen]
        assert run(text) == wanted, text
        some += 0 < len(wanted) < len(ids)
    return some


def test_generated_queries_select_what_pandas_selects(tmp_path):
    pandas = peer("pandas")
    rng = random.Random(22)
    store, cohort = Store(tmp_path / "s.zarr", create=True), c.c_void_p()
    subjects = [f"sub-{i:03d}" for i in range(300)]
    columns = draw_columns(rng, len(subjects))
    commit(store, "tables/subjects", subjects, columns)
    # Some subjects have no volume, some volumes no subject, or one without a
    # row.
    owners = [rng.choice([*subjects, None, "sub-x"]) for _ in range(500)]
    paths = [f"ct/v{i}" for i in range(len(owners))]
    volumes = {"subject": ("text", owners),
               "nbytes": ("integer", [rng.randint(-3, 9) for _ in owners]),
               "age": ("float", [rng.choice([None, 2.5, 3.0, -3.0])
                                 for _ in owners])}
    commit(store, "tables/volumes/ct", paths, volumes)
    with_seg = sorted({rng.choice([*subjects, "sub-x"]) for _ in range(120)})
    commit(store, "tables/volumes/seg", [f"seg/{s}" for s in with_seg],
           {"subject": ("text", with_seg)})
    check(lib.radio_cohort_open(store.handle, c.byref(cohort)))
    try:
        data = frame(pandas, columns)
        data["subject"] = pandas.Series(subjects, dtype="string")
        kinds = {name: kind for name, (kind, _) in columns.items()}
        some = check_queries(
            Generator(rng, {**kinds, "subject": "text"}, pandas, with_seg),
            data, subjects, lambda text: select(cohort, text, True), 120)
        # Of volumes, by columns of both.
        kinds = {"subject.age" if name == "age" else name: kind
                 for name, kind in kinds.items()}
        both = data.rename(columns={"age": "subject.age"})
        both = frame(pandas, volumes).rename(
            columns={"age": "volume.age"}).merge(both, "left", "subject")
        kinds |= {"volume.age": "float", "nbytes": "integer",
                  "subject": "text"}
        some += check_queries(
            Generator(rng, kinds, pandas, with_seg), both, paths,
            lambda text: select(cohort, text, False, b"ct"), 120)
        assert some > 150
    finally:
        lib.radio_cohort_close(cohort)
