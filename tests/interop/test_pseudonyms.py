# SPDX-License-Identifier: MIT
"""Copies with pseudonyms of subjects: nothing of the old ids is in any byte of
the new store, and one key gives the same names everywhere."""

import base64
import hashlib
import hmac
import json
import subprocess

import pytest
from conftest import RADIO

KEY = b"0123456789abcdef0123456789abcdef"
# Session and run stay, so they say nothing of the subject here.
NAMES = ["meyer", "schulze", "okonkwo", "tanaka"]


def run(*args, status=0):
    done = subprocess.run([RADIO, *map(str, args)], capture_output=True,
                          text=True)
    assert done.returncode == status, done.stderr
    return done


WINDOW = {"min": 0, "max": 9, "start": 1, "end": 2.5}
LABELS = {"version": "0.5",
          "colors": [{"label-value": 1, "rgba": [255, 0, 0, 255]}],
          "properties": [{"label-value": 1, "name": "liver"}]}


def plant(document, who):
    """What other programs write into a volume's document, with an id in each
    object of it."""
    attributes = document["attributes"]
    ome = attributes["ome"]
    image = ome["multiscales"][0]
    window, labels = dict(WINDOW), json.loads(json.dumps(LABELS))
    channel = {"color": "00FF00", "window": window, "active": True,
               "label": f"scan of {who}"}
    ome["omero"] = {"name": who, "channels": [channel],
                    "rdefs": {"model": "color", "of": [who]}}
    ome["image-label"] = labels
    labels["source"] = {"image": f"../../ct/sub-{who}_ses-1_x"}
    image["metadata"] = {"method": who}
    orientation = [axis["orientation"] for axis in image["axes"]]
    for at in (document["consolidated_metadata"], attributes,
               attributes["radio"], attributes["radio"]["source"], ome, image,
               *image["axes"], *orientation, *image["datasets"],
               image["datasets"][0]["coordinateTransformations"][0],
               ome["omero"], channel, window, labels, *labels["colors"],
               *labels["properties"]):
        at["patient"] = who
        at["patients"] = [{"who": [who]}]


def make_study(np, nib, folder, names):
    """Images with the id in their header, an extension and their name; a table
    with the id in a column of the user's."""
    store = folder / "s.zarr"
    rng = np.random.default_rng(7)
    for collection, kind in ("ct", "i2"), ("seg", "u1"):
        for name in names:
            for session in "12":
                file = folder / collection / f"sub-{name}_ses-{session}_x.nii"
                file.parent.mkdir(exist_ok=True)
                image = nib.Nifti1Image(
                    rng.integers(0, 3, (9, 8, 7)).astype(kind), np.eye(4))
                image.header["descrip"] = f"scan of {name}"
                image.header["intent_name"] = name
                image.header.extensions.append(
                    nib.nifti1.Nifti1Extension("comment", name.encode()))
                nib.save(image, file)
        run("ingest", "-q", "-s", store, "-c", collection,
            *sorted((folder / collection).iterdir()))
        path = store / collection / f"sub-{names[0]}_ses-1_x" / "zarr.json"
        document = json.loads(path.read_text())
        plant(document, names[0])
        path.write_text(json.dumps(document))
    table = folder / "participants.tsv"
    table.write_text("participant_id\tage\tsurname\n" + "".join(
        f"sub-{name}\t{40 + NAMES.index(name)}\t{name}\n" for name in names))
    run("index", "-s", store)
    run("table", "-q", "-s", store, "--import", table, "subjects")
    return store


def pseudonym(name):
    return "sub-" + hmac.new(KEY, f"sub-{name}".encode(),
                             hashlib.sha256).hexdigest()[:16]


@pytest.fixture
def key(tmp_path):
    file = tmp_path / "key"
    file.write_bytes(KEY + b"\n")
    file.chmod(0o600)
    return file


def volumes(store):
    return run("ls", "-s", store).stdout.split()


def rows(store, *table):
    """The rows of a table; the first column are the ids."""
    return [{"id" if i == 0 else key: value
             for i, (key, value) in enumerate(row.items())}
            for row in json.loads(run("table", "-s", store, "--json",
                                      *table).stdout)]


def texts(zarr, store):
    """All that a store says: names, documents, headers and cells."""
    for file in sorted(store.rglob("*")):
        yield str(file.relative_to(store)).encode()
        if not file.is_file():
            continue
        data = file.read_bytes()
        yield data
        if file.name != "zarr.json":
            continue
        document = json.loads(data)
        radio = document.get("attributes", {}).get("radio", {})
        if "nifti" in radio:
            yield base64.b64decode(radio["nifti"])
        if document["node_type"] == "array":
            array = zarr.open_array(file.parent, mode="r")
            yield repr(array[...].ravel().tolist()).encode()
            yield array[...].tobytes()


def test_nothing_of_the_ids_is_in_a_copy(np, nib, zarr, tmp_path, key):
    source = make_study(np, nib, tmp_path, NAMES)
    # Pipelines that name volumes; those of masks' collections stay.
    for i, name in enumerate(NAMES[:2]):
        run("apply", "-q", ["like ct/sub-{}_ses-2_x | clamp 0,2",
                            "znorm of mask seg | like sub-{}_ses-2_x"][i]
            .format(name), f"{source}/ct/sub-{name}_ses-1_x",
            "--to", source, "-c", "derived")
    copy = tmp_path / "copy.zarr"
    done = run("cp", source, copy, "--subjects-key", key, "--columns", "age")
    assert done.stderr == ""
    found = [text.lower() for text in texts(zarr, copy)]
    assert len(found) > 200
    for name in NAMES:
        assert not [text for text in found if name.encode() in text]
        # They are found where they are.
        assert [text for text in texts(zarr, source)
                if name.encode() in text]
        hidden = hashlib.sha256(
            (tmp_path / "ct" / f"sub-{name}_ses-1_x.nii").read_bytes())
        assert not [text for text in found
                    if hidden.hexdigest().encode() in text]
    run("validate", copy)
    run("index", "-s", copy, "--check-values")
    shown = [run("info", "--json", "-s", copy,
                 f"derived/{pseudonym(name)}_ses-1_x") for name in NAMES[:2]]
    assert [json.loads(each.stdout)["derived"]["pipeline"]
            for each in shown] == ["like removed | clamp 0,2",
                                       "znorm of mask seg | like removed"]

    assert volumes(copy) == sorted([
        f"{collection}/{pseudonym(name)}_ses-{session}_x"
        for collection in ("ct", "seg") for name in NAMES
        for session in "12"] + [
            f"derived/{pseudonym(name)}_ses-1_x" for name in NAMES[:2]])
    assert {(row["id"], row["age"]) for row in rows(copy)} == {
        (pseudonym(name), 40 + i) for i, name in enumerate(NAMES)}
    assert set(rows(copy)[0]) == {"id", "age"}
    table = {row["id"]: row for row in rows(copy, "ct")}
    for row in rows(source, "ct"):
        name = row["subject"].removeprefix("sub-")
        there = table[row["id"].replace(f"sub-{name}", pseudonym(name))]
        assert there["source_name"] is there["source_sha256"] is None
        same = set(row) - {"id", "subject", "source_name", "source_sha256",
                           "nbytes"}
        assert {column: row[column] for column in same} \
            == {column: there[column] for column in same}

    # All that programs need to show the images stays.
    for collection in "ct", "seg":
        ours, theirs = [
            json.loads((store / collection / f"{name}_ses-1_x" / "zarr.json")
                       .read_text())["attributes"]["ome"]
            for store, name in ((copy, pseudonym(NAMES[0])),
                                (source, f"sub-{NAMES[0]}"))]
        assert ours["image-label"] == LABELS
        assert ours["omero"] == {"channels": [
            {"color": "00FF00", "window": WINDOW, "active": True}]}
        plain = json.loads((source / collection / f"sub-{NAMES[1]}_ses-1_x"
                            / "zarr.json").read_text())["attributes"]["ome"]
        image, there = ours["multiscales"][0], plain["multiscales"][0]
        assert image["axes"] == there["axes"]
        path = theirs["multiscales"][0]["datasets"][0]["path"]
        there["datasets"][0]["path"] = path
        assert image["datasets"] == there["datasets"]
        assert set(ours) == {"version", "multiscales", "omero", "image-label"}
        assert set(image) == {"name", "axes", "datasets"}

    # Voxels and geometry are what they were.
    file = tmp_path / "out.nii"
    for name in NAMES:
        run("export", "-s", copy, f"seg/{pseudonym(name)}_ses-2_x", "-o", file,
            "--overwrite")
        got = nib.load(file)
        want = nib.load(tmp_path / "seg" / f"sub-{name}_ses-2_x.nii")
        assert np.array_equal(got.dataobj, want.dataobj)
        assert np.array_equal(got.affine, want.affine)
        assert got.header["descrip"] == b"" and not got.header.extensions


@pytest.mark.parametrize("what, change", [
    ("attributes", lambda array, x: array.update(attributes={"of": x})),
    ("members that are not Zarr's", lambda array, x: array.update(
        patient={"must_understand": False, "name": x})),
    ("members that are not Zarr's", lambda array, x: array["codecs"].append(
        {"name": x, "must_understand": False})),
    ("members that are not Zarr's", lambda array, x: array.update(
        storage_transformers=[{"name": x, "must_understand": False}])),
    ("names of axes",
     lambda array, x: array.update(dimension_names=["z", x, "x"])),
])
def test_what_else_a_level_says_is_an_error(np, nib, tmp_path, key, what,
                                            change):
    source = make_study(np, nib, tmp_path, NAMES[:1])
    volume = source / "ct" / f"sub-{NAMES[0]}_ses-2_x"
    document = json.loads((volume / "zarr.json").read_text())
    level = document["attributes"]["ome"]["multiscales"][0]["datasets"][0][
        "path"]
    array = document["consolidated_metadata"]["metadata"][level]
    change(array, NAMES[0])
    (volume / level / "zarr.json").write_text(json.dumps(array))
    (volume / "zarr.json").write_text(json.dumps(document))
    # As it is, it is a volume.
    run("cp", source, tmp_path / "plain.zarr")
    copy = tmp_path / "copy.zarr"
    done = run("cp", source, copy, "--subjects-key", key, "--columns", "age",
               status=1)
    assert f"{level}: has {what}, which radio did not write" in done.stderr
    assert len(volumes(copy)) == 3
    assert f"ct/{pseudonym(NAMES[0])}_ses-2_x" not in volumes(copy)


def test_one_key_gives_the_same_names_from_two_stores(np, nib, tmp_path, key):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = make_study(np, nib, tmp_path / "a", NAMES[:3])
    second = make_study(np, nib, tmp_path / "b", NAMES[2:])
    one, two = tmp_path / "1.zarr", tmp_path / "2.zarr"
    run("cp", first, one, "--subjects-key", key)
    run("cp", second, two, "--subjects-key", key, "--columns", "")
    assert {row["id"] for row in rows(one)} & {row["id"] for row in rows(two)} \
        == {pseudonym(NAMES[2])}
    assert set(rows(one)[0]) == {"id", "age", "surname"}
    assert set(rows(two)[0]) == {"id"}
    # All other names are none of the first's.
    key.write_bytes(KEY[::-1])
    run("cp", first, tmp_path / "3.zarr", "--subjects-key", key)
    assert not set(volumes(one)) & set(volumes(tmp_path / "3.zarr"))


def test_a_copy_with_pseudonyms_resumes(np, nib, tmp_path, key):
    source = make_study(np, nib, tmp_path, NAMES)
    copy, options = tmp_path / "copy.zarr", ["--subjects-key", key]
    run("cp", source, copy, *options, "--head", 5)
    # As a kill leaves it: shards that no document names.
    name = f"ct/{pseudonym(NAMES[0])}_ses-1_x"
    before = (copy / name / "zarr.json").read_bytes()
    (copy / name / "zarr.json").unlink()
    done = run("cp", source, copy, *options, "--skip-existing")
    assert "there already" in [line for line in done.stdout.splitlines()
                               if line.startswith(name)][0]
    assert (copy / name / "zarr.json").read_bytes() == before
    assert "12 volumes" in done.stdout and "4 skipped" in done.stdout
    assert len(volumes(copy)) == 16
    assert {row["age"] for row in rows(copy)} == {40, 41, 42, 43}
    assert len(rows(copy, "ct")) == 8
    # And once more, over what is there.
    run("cp", source, copy, *options, "--overwrite")
    assert (copy / name / "zarr.json").read_bytes() == before
    run("validate", copy)


def test_volumes_in_no_collection_are_not_copied(np, nib, tmp_path, key):
    source = make_study(np, nib, tmp_path, NAMES[:2])
    for name in NAMES[:2]:
        (source / "ct" / f"sub-{name}_ses-2_x").rename(
            source / f"sub-{name}_x")
    (source / "ct" / f"sub-{NAMES[0]}_ses-1_x").rename(source / "anna")
    copy = tmp_path / "copy.zarr"
    done = run("cp", source, copy, "--subjects-key", key, status=1)
    for name in "anna", f"sub-{NAMES[0]}_x", f"sub-{NAMES[1]}_x":
        assert f"radio: '{name}': not COLLECTION/NAME" in done.stderr
    assert volumes(copy) == sorted(
        f"{collection}/{pseudonym(name)}_ses-{session}_x"
        for collection, name, session in (
            ("ct", NAMES[1], 1), ("seg", NAMES[0], 1), ("seg", NAMES[0], 2),
            ("seg", NAMES[1], 1), ("seg", NAMES[1], 2)))


def test_columns_with_ids_get_a_warning(np, nib, tmp_path, key):
    source = make_study(np, nib, tmp_path, NAMES)
    cells = {"partner": f"sub-{NAMES[1]}", "note": f"see {NAMES[3]}, p. 2",
             "longer": f"{NAMES[0]}son", "site": "sub"}
    for column, cell in cells.items():
        run("table", "-q", "-s", source, "--set", column, "ct",
            f"ct/sub-{NAMES[0]}_ses-1_x={cell}")
    copy = tmp_path / "copy.zarr"
    for columns, names in ((), ("surname", "partner", "note")), \
            (("--columns", "age,note"), ("note",)), (("--columns", "age"), ()):
        done = run("cp", source, copy, "--subjects-key", key, "--overwrite",
                   "--dry-run", *columns)
        assert done.stderr == "".join(
            f"radio: warning: {table}: the column '{name}' has ids of "
            f"subjects still, in {n} row{'s' if n > 1 else ''}; leave it out "
            "by --columns\n" for table, name, n in (
                ("subjects", "surname", 4), ("ct", "partner", 1),
                ("ct", "note", 1)) if name in names)
    # Of rows that are copied alone.
    done = run("cp", source / "ct" / f"sub-{NAMES[2]}_ses-1_x", copy,
               "--subjects-key", key, "--dry-run")
    assert "'surname' has ids of subjects still, in 1 row;" in done.stderr
    assert "partner" not in done.stderr


def test_numbers_names_and_descriptions_with_ids_get_a_warning(
        np, nib, tmp_path, key):
    """Numbers are ids where all are, and none is there twice."""
    names = ["01", "02", "07"]
    for name in names:
        nib.save(nib.Nifti1Image(np.zeros((3, 4, 5), "u1"), np.eye(4)),
                 tmp_path / f"sub-{name}_x.nii")
    source = tmp_path / "s.zarr"
    run("ingest", "-q", "-s", source, "-c", "ct",
        *sorted(tmp_path.glob("*.nii")))
    columns = {"mrn": [7, 1, 2], "scanner": [1, 2, 2], "age": [1, 2, 70],
               "late": ["n/a", 7, 1], "one": [1, "n/a", "n/a"],
               "likes sub-02": [5, 5, 5], "plan": [4, 4, 4]}
    table = tmp_path / "p.tsv"
    table.write_text("\n".join("\t".join(map(str, row)) for row in [
        ["participant_id", *columns],
        *([f"sub-{name}", *cells] for name, cells in
          zip(names, zip(*columns.values())))]) + "\n")
    (tmp_path / "p.json").write_text(json.dumps(
        {"plan": {"Description": "as of sub-07", "Levels": {"4": "all"}}}))
    run("table", "-q", "-s", source, "--import", table, "subjects")
    done = run("cp", source, tmp_path / "copy.zarr", "--subjects-key", key)
    cells = "has ids of subjects still, in {} rows; leave it out by --columns"
    assert done.stderr == "".join(
        f"radio: warning: subjects: {line}\n" for line in (
            "the column 'mrn' " + cells.format(3),
            "the column 'late' " + cells.format(2),
            "the name of the column 'likes sub-02' has an id of a subject; "
            "leave it out by --columns",
            "what describes the column 'plan' has ids of subjects still; "
            "leave it out by --columns"))
    done = run("cp", source, tmp_path / "copy.zarr", "--subjects-key", key,
               "--overwrite", "--columns", "age,scanner,one")
    assert done.stderr == ""


def test_ids_elsewhere_in_names_get_a_warning(np, nib, tmp_path, key):
    source = make_study(np, nib, tmp_path, NAMES[:2])
    first, second = (f"sub-{name}" for name in NAMES[:2])
    # Another's id, and longer words, are none of the subject's.
    for name in f"{first}_{second}", f"{first}_desc-{first}a_x":
        (source / "ct" / f"{first}_ses-1_x").rename(source / "ct" / name)
        done = run("cp", source, tmp_path / "a.zarr", "--subjects-key", key,
                   "--overwrite", "--columns", "age")
        assert done.stderr == ""
        (source / "ct" / name).rename(source / "ct" / f"{first}_ses-1_x")
    name = f"_desc-{first}_x"
    (source / "ct" / f"{first}_ses-1_x").rename(source / "ct"
                                                / f"{first}{name}")
    done = run("cp", source, tmp_path / "b.zarr", "--subjects-key", key,
               "--columns", "age")
    assert done.stderr == (
        f"radio: warning: ct/{pseudonym(NAMES[0])}{name}: has the id {first} "
        "still; rename what is copied first\n")
    (source / "seg").rename(source / second)
    done = run("cp", source, tmp_path / "c.zarr", "--subjects-key", key,
               "--dry-run")
    assert f": has the id {first} still, as 2 other new names do theirs" \
        in done.stderr


def test_a_key_must_be_one(np, nib, tmp_path, key):
    source = make_study(np, nib, tmp_path, NAMES[:1])
    copy = tmp_path / "copy.zarr"
    for data, message in ((b"", "a key of 0 bytes"),
                          (b"short\n\n", "a key of 5 bytes"),
                          (b"x" * 5000, "too many for a key")):
        key.write_bytes(data)
        done = run("cp", source, copy, "--subjects-key", key, status=1)
        assert message in done.stderr and not copy.exists()
    done = run("cp", source, copy, "--subjects-key", tmp_path / "none",
               status=1)
    assert "No such file" in done.stderr
    key.write_bytes(KEY)
    key.chmod(0o644)
    done = run("cp", source, copy, "--subjects-key", key)
    assert "others may read this key (mode 644)" in done.stderr
    done = run("cp", source / "ct", copy, "--subjects-key", key, "--name",
               "ct/a", status=2)
    assert "give it without --name" in done.stderr


def test_columns_that_no_table_has_are_an_error(np, nib, tmp_path):
    source = make_study(np, nib, tmp_path, NAMES[:1])
    copy = tmp_path / "copy.zarr"
    done = run("cp", source, copy, "--columns", "age,surnme", status=2)
    assert "no table has a column 'surnme'; did you mean surname?" \
        in done.stderr
    assert not copy.exists()
    run("cp", source, copy, "--columns", "surname,shape_x")
    assert rows(copy) == [{"id": "sub-meyer", "surname": "meyer"}]


def test_columns_with_long_names_are_found(np, nib, tmp_path):
    source = make_study(np, nib, tmp_path, NAMES[:1])
    copy, name = tmp_path / "copy.zarr", "a" * 200
    run("table", "-q", "-s", source, "--set", name, "subjects", "sub-meyer=x")
    run("cp", source, copy, "--columns", f"{name},age")
    assert rows(copy) == [{"id": "sub-meyer", "age": 40, name: "x"}]
