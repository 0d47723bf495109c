# SPDX-License-Identifier: MIT
"""radio split, as pandas sees the table that it leaves, and by Python's own
SHA-256."""

import hashlib
import json

import pytest
from conftest import peer, run_radio


@pytest.fixture
def store(np, tmp_path):
    """A store with 500 subjects, of whom some have no diagnosis."""
    rng = np.random.default_rng(11)
    store = tmp_path / "s.zarr"
    run_radio("phantom", "-s", store, "ct/p000", "--size", "8")
    run_radio("index", "-s", store)
    add(store, tmp_path, range(500), rng)
    return store


def add(store, folder, numbers, rng):
    lines = ["subject\tdiagnosis\tage"]
    for i in numbers:
        diagnosis = rng.choice(["AD", "MCI", "control", "n/a", "rare"],
                               p=[.3, .3, .29, .1, .01])
        lines.append(f"p{i:03}\t{diagnosis}\t{rng.integers(20, 90)}")
    table = folder / "participants.tsv"
    table.write_text("\n".join(lines) + "\n")
    run_radio("table", "-s", store, "--import", table)


def frame(store):
    pandas = peer("pandas")
    return pandas.DataFrame(json.loads(
        run_radio("table", "-s", store, "--json", "subjects").stdout))


def number(seed, subject):
    digest = hashlib.sha256(f"{seed}:split/{subject}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def split(store, *args):
    run_radio("split", "-s", store, *args)
    return frame(store)


def test_a_part_is_a_hash_and_adding_subjects_moves_none(np, store, tmp_path):
    table = split(store, "--fractions", "0.7,0.15,0.15", "--seed", 7)
    assert len(table) == 500
    for subject, part in zip(table["subject"], table["split"]):
        x = number(7, subject)
        assert part == ("train" if x < 0.7 else
                        "val" if x < 0.85 else "test")
    before = dict(zip(table["subject"], table["split"]))
    add(store, tmp_path, range(500, 700), np.random.default_rng(1))
    for force in [], ["--force"]:
        after = split(store, "--fractions", "0.7,0.15,0.15", "--seed", 7,
                      *force)
        assert len(after) == 700 and after["split"].notna().all()
        after = dict(zip(after["subject"], after["split"]))
        assert {k: after[k] for k in before} == before


@pytest.mark.parametrize("fractions", ["0.7,0.15,0.15", "0.5,0.5",
                                       "0.1,0.2,0.3,0.4", "1"])
def test_fractions_are_exact_in_each_stratum(store, fractions):
    table = split(store, "--fractions", fractions, "--stratify", "diagnosis",
                  "--column", "part", "--seed", 3)
    portions = [float(f) for f in fractions.split(",")]
    names = {2: ["train", "test"], 3: ["train", "val", "test"]}.get(
        len(portions), [str(i) for i in range(len(portions))])
    # Missing ones are the first stratum, the others are ordered by bytes.
    strata = [table[table["diagnosis"].isna()]] + [
        group for _, group in table.groupby("diagnosis")]
    assert len(strata) == 5
    lacks = [0.0] * len(portions)
    for group in strata:
        quotas = [portion * len(group) for portion in portions]
        wanted = [int(q + 1e-9) for q in quotas]
        rest = [q - n for q, n in zip(quotas, wanted)]
        lacks = [a + b for a, b in zip(lacks, rest)]
        order = sorted((i for i in range(len(quotas)) if rest[i] > 1e-6),
                       key=lambda i: (-round(lacks[i], 6), i))
        for i in order[:len(group) - sum(wanted)]:
            wanted[i] += 1
            lacks[i] -= 1
        counts = group["part"].value_counts()
        assert [counts.get(name, 0) for name in names] == wanted
        # The first of them by their hashes are in the first part.
        ordered = group.assign(x=[number(3, s) for s in group["subject"]]) \
            .sort_values("x")
        assert ordered["part"].tolist() == [
            name for name, n in zip(names, wanted) for _ in range(n)]


@pytest.mark.parametrize("size, option, counts", [
    (7, "--folds=5", [20, 20, 20, 20, 20]),
    (2, "--folds=5", [20, 20, 20, 20, 20]),
    (4, "--fractions=0.8,0.1,0.1", [80, 10, 10]),
    (1, "--fractions=0.7,0.15,0.15", [70, 15, 15])])
def test_small_strata_do_not_add_up_to_other_fractions(
        store, tmp_path, size, option, counts):
    """Of 100 subjects that have a site, each site with a few of them."""
    lines = ["subject\tsite"] + [f"p{i:03}\tsite-{i // size:03}"
                                 for i in range(100)]
    table = tmp_path / "sites.tsv"
    table.write_text("\n".join(lines) + "\n")
    run_radio("table", "-s", store, "--import", table)
    table = split(store, option, "--stratify", "site", "--column", "part")
    fractions = [n / 100 for n in counts]
    table = table[table["site"].notna()]
    for _, group in table.groupby("site"):
        n = group["part"].value_counts()
        for part, fraction in zip(parts_of(table), fractions):
            assert abs(n.get(part, 0) - fraction * len(group)) < 1
    total = table["part"].value_counts()
    for part, n in zip(parts_of(table), counts):
        assert abs(total[part] - n) <= 1


def parts_of(table):
    return sorted(table["part"].unique(),
                  key=lambda part: ["train", "val", "test"].index(part)
                  if isinstance(part, str) else part)


def test_folds_are_numbers_and_differ_by_one_at_most(store):
    table = split(store, "--by", "subject", "--folds", 7, "--exact")
    assert table["fold"].dtype.kind == "i"
    assert sorted(table["fold"].value_counts()) == [71] * 4 + [72] * 3
    # Without --exact, another seed, and only with --force.
    assert split(store, "--folds", 7, "--seed", 1)["fold"].equals(
        table["fold"])
    run_radio("table", "-s", store, "--set", "fold", "subjects", "p001=99")
    done = run_radio("split", "-s", store, "--folds", 7)
    assert "1 keep another value; --force gives" in done.stdout
    other = split(store, "--folds", 7, "--seed", 1, "--force")
    assert other["fold"].tolist() == [
        int(number(1, s) * 7) for s in other["subject"]]


def test_wrong_options_are_errors_and_write_nothing(store):
    before = frame(store)
    for args, status, message in (
            (["--fractions", "0.7,0.2"], 2, "a sum other than 1"),
            (["--fractions", "0.5,,0.5"], 2, "not a list of"),
            (["--fractions", "1.5,-0.5"], 2, "not a list of"),
            ([], 2, "either --fractions or --folds"),
            (["--folds", "2", "--by", "volume"], 2, "is not subject"),
            (["--folds", "2", "--fractions", "1"], 2, "either"),
            (["--folds", "2", "--stratify", "none"], 2,
             "--stratify: tables/subjects: no column 'none'; there are: "),
            (["--folds", "2", "--column", "a/b"], 2, "use 'a_b'"),
            (["--folds", "2", "--column", "diagnosis"], 1, "diagnosis")):
        done = run_radio("split", "-s", store, *args, status=status)
        assert message in done.stderr
    assert frame(store).equals(before)
