# SPDX-License-Identifier: MIT
"""Rows of volumes: what nibabel says of each file, with the subjects' table as
pandas reads it; and writers at once, of which one is killed."""

import json
import subprocess
import time
from hashlib import sha256

import pytest
from conftest import RADIO, peer, run_radio
from radio_library import Store


@pytest.fixture
def cohort(np, nib, tmp_path):
    """A BIDS folder of 12 subjects with odd grids, and its participants."""
    rng = np.random.default_rng(7)
    root = tmp_path / "bids"
    lines = ["participant_id\tage\tsite\tscore\tis_case"]
    for i in range(12):
        subject = f"sub-{i:02}"
        folder = root / subject / "anat"
        folder.mkdir(parents=True)
        shape = tuple(int(n) for n in rng.integers(3, 9, 3))
        affine = np.diag([*rng.choice([-1.5, 1, 2.25], 3), 1])
        affine[:3, 3] = rng.normal(0, 50, 3).astype("f4")
        for name, dtype in ("ses-1_T1w", "i2"), ("ses-1_mask", "u1"):
            array = rng.integers(0, 100, shape).astype(dtype)
            nib.save(nib.Nifti1Image(array, affine),
                     folder / f"{subject}_{name}.nii.gz")
        lines.append("\t".join([
            subject, str(rng.integers(20, 90)) if i % 5 else "n/a",
            f"site {i % 3}" if i % 4 else "n/a", repr(rng.normal()),
            "true" if i % 2 else "false"]))
    (root / "participants.tsv").write_text("\n".join(lines) + "\n")
    return root


def rows(store, table):
    return json.loads(run_radio("table", "-s", store, "--json", table).stdout)


def test_rows_say_what_nibabel_says_of_the_files(radio, np, nib, cohort,
                                                 tmp_path):
    store = tmp_path / "s.zarr"
    radio("ingest", "-q", "-s", store, "--layout", "bids", "--table",
          cohort / "participants.tsv", cohort)
    for collection in "T1w", "mask":
        table = rows(store, collection)
        assert len(table) == 12
        for row in table:
            image = nib.load(next(cohort.rglob(row["source_name"])))
            assert row["volume"] == f"{collection}/{row['subject']}_ses-1"
            assert row["session"] == "ses-1"
            assert tuple(row[f"shape_{a}"] for a in "xyz") == image.shape
            assert row["shape_t"] is None
            assert np.allclose([row[f"spacing_{a}"] for a in "xyz"],
                               image.header.get_zooms(), rtol=1e-7)
            assert np.allclose(json.loads(row["affine"]), image.affine[:3])
            assert row["orientation"] == "".join(
                nib.aff2axcodes(image.affine))
            assert row["type"] == {"i2": "int16", "u1": "uint8"}[
                image.get_data_dtype().str[1:]]


def test_subjects_are_those_of_pandas(radio, cohort, tmp_path):
    pandas = peer("pandas")
    store = tmp_path / "s.zarr"
    radio("ingest", "-q", "-s", store, "--layout", "bids", "--table",
          cohort / "participants.tsv", cohort)
    frame = pandas.read_csv(cohort / "participants.tsv", sep="\t",
                            float_precision="round_trip")
    table = rows(store, "subjects")
    assert [row["subject"] for row in table] == list(frame["participant_id"])
    for row, (_, want) in zip(table, frame.iterrows()):
        for name in "age", "site", "score", "is_case":
            missing = pandas.isna(want[name])
            assert row[name] is None if missing else row[name] == want[name]


@pytest.fixture
def visits(np, nib, tmp_path):
    """A BIDS folder of 5 subjects with 2 visits of 2 images, each described
    by a line of sessions, and of scans; some columns are missing in some."""
    rng = np.random.default_rng(11)
    root, empty = tmp_path / "visits", np.zeros((3, 4, 5), "i2")
    for i in range(5):
        subject = root / f"sub-{i}"
        lines = ["session_id\tweight\tsite" + "\tnote" * (i % 2)]
        for visit in "ses-a", "ses-b":
            lines.append(f"{visit}\t{rng.integers(50, 99)}"
                         f"{'.5' if i == 3 else ''}\t{'n/a' if i else 'x'}"
                         + '\t"a ""b"""' * (i % 2))
            scans = ["filename\tacq_time\tquality"]
            for name in "anat/{}_T1w.nii", "func/{}_task-rest_bold.nii.gz":
                path = name.format(f"{subject.name}_{visit}")
                (subject / visit / path).parent.mkdir(parents=True)
                nib.save(nib.Nifti1Image(empty, np.eye(4)),
                         subject / visit / path)
                scans.append(f"{path}\t2020-01-0{i + 1}T10:00:00\t"
                             f"{i if visit == 'ses-a' else 'n/a'}")
            (subject / visit / f"{subject.name}_{visit}_scans.tsv").write_text(
                "\n".join(scans) + "\n")
        (subject / f"{subject.name}_sessions.tsv").write_text(
            "\n".join(lines) + "\n")
    (root / "participants.tsv").write_text(
        "participant_id\tage\n" + "".join(f"sub-{i}\t{40 + i}\n"
                                         for i in range(5)))
    (root / "sessions.json").write_text(json.dumps(
        {"weight": {"Units": "kg"}, "site": {"Levels": {"x": "the first"}}}))
    return root


def test_sessions_and_scans_are_joined_as_by_pandas(radio, visits, tmp_path):
    pandas = peer("pandas")
    store = tmp_path / "s.zarr"
    # Parts see the tables of all, so that they agree on types.
    for part in "1/3", "2/3", "3/3":
        radio("ingest", "-q", "-s", store, "--layout", "bids", "--part", part,
              visits)
    kinds = {}
    for kind in "sessions", "scans":
        kinds[kind] = pandas.concat(
            [pandas.read_csv(path, sep="\t").assign(
                subject=path.name.split("_")[0])
             for path in visits.rglob(f"*_{kind}.tsv")])
    kinds["scans"]["source_name"] = kinds["scans"]["filename"].str.split(
        "/").str[-1]
    for collection in "T1w", "task-rest_bold", "bold":
        if collection not in radio("ls", "-s", store).stdout:
            continue
        table = pandas.DataFrame(rows(store, collection))
        own = table[["volume", "subject", "session", "source_name"]]
        want = own.merge(kinds["sessions"], "left",
                         left_on=["subject", "session"],
                         right_on=["subject", "session_id"])
        want = want.merge(kinds["scans"], "left", on=["subject", "source_name"])
        assert len(table) == len(want) == 10
        for name in "weight", "site", "note", "acq_time", "quality":
            for got, value in zip(table[name], want[name]):
                assert pandas.isna(got) if pandas.isna(value) \
                    else got == value, name
    assert [row["age"] for row in rows(store, "subjects")] == list(range(40,
                                                                         45))
    documents = "".join(path.read_text() for path in
                        (store / "tables/volumes/T1w").rglob("zarr.json"))
    assert '"kg"' in documents and '"the first"' in documents


def test_writers_at_once_of_which_one_is_killed_lose_no_row(radio, cohort,
                                                            tmp_path):
    store = tmp_path / "s.zarr"
    writers = [subprocess.Popen(
        [RADIO, "ingest", "-q", "-s", store, "--layout", "bids", "--part",
         f"{k}/4", cohort], stderr=subprocess.PIPE) for k in range(1, 5)]
    time.sleep(0.1)
    writers[2].kill()
    for writer in writers:
        writer.communicate()
    assert [w.returncode for i, w in enumerate(writers) if i != 2] == [0] * 3
    # The killed part again, alone.
    radio("ingest", "-q", "-s", store, "--layout", "bids", "--part", "3/4",
          "--skip-existing", cohort)
    ids = [row["volume"] for table in ("T1w", "mask")
           for row in rows(store, table)]
    assert sorted(ids) == sorted(radio("ls", "-s", store).stdout.split())
    assert len(ids) == len(set(ids)) == 24
    radio("index", "-s", store, "--check")


def test_each_id_gives_its_own_voxels(radio, np, nib, tmp_path):
    """Of a list that is not sorted, of one that is appended and sorts before
    it, and of images that are replaced."""
    rng = np.random.default_rng(3)
    store, wanted = tmp_path / "s.zarr", {}

    def ingest(names, *options):
        files = []
        for name in names:
            path = tmp_path / f"{name}.nii"
            voxels = rng.integers(0, 999, (5, 4, 3)).astype("i2")
            nib.save(nib.Nifti1Image(voxels, np.eye(4)), path)
            wanted[f"ct/{name}"] = (sha256(path.read_bytes()).hexdigest(),
                                    sha256(voxels.tobytes()).hexdigest())
            files.append(path)
        radio("ingest", "-q", "-s", store, "-c", "ct", *options, *files)

    ingest([f"sub-{i:02}" for i in rng.permutation(range(10, 20))])
    radio("index", "-s", store)
    ingest([f"sub-{i:02}" for i in (7, 3, 5)])
    ingest(["sub-12", "sub-03", "sub-19"], "--overwrite")
    found = {}
    with Store(str(store)) as opened:
        for row in rows(store, "ct"):
            assert row["subject"] == row["volume"].split("/")[1]
            with opened.open_volume(row["volume"]) as volume:
                voxels = volume.read([0, 0, 0], volume.shape(), np.int16)
            assert row["volume"] not in found
            found[row["volume"]] = (row["source_sha256"], sha256(
                voxels.T.tobytes()).hexdigest())
    assert found == wanted
