# SPDX-License-Identifier: MIT
"""Statistics of several volumes together, of the voxels that masks choose:
compared with NumPy over all of these voxels at once."""

import json
import struct
import subprocess

import pytest
from conftest import RADIO

PERCENTS = [0, 0.5, 33.3, 50, 99.5, 100]
KINDS = {"short": ["i2"], "narrow": ["i2", "u1", "i1", "u2"],
         "mixed": ["i2", "f4", "u1", "i4"], "wide": ["f4"], "double": ["f8"]}


class Study:
    """Images with masks of labels 0 to 3 and 255."""

    def __init__(self, np, nib, folder, types, scalings=((1, 0),)):
        rng = np.random.default_rng(len(types) + len(scalings))
        self.store = folder / "s.zarr"
        self.values, self.masks, self.names = [], [], []
        for i in range(7):
            name = f"sub-{i:02}_ses-1"
            shape = tuple(int(n) for n in rng.integers(9, 30, 3))
            kind = np.dtype(types[i % len(types)])
            slope, inter = scalings[i % len(scalings)]
            values = rng.normal(60, 40, shape)
            if kind.kind in "iu":
                limits = np.iinfo(kind)
                values = np.clip(values, limits.min, limits.max)
            values = values.astype(kind)
            if kind.kind == "f":
                values[rng.random(shape) < 0.01] = np.nan
            mask = rng.choice([0, 1, 2, 3, 255], shape,
                              p=[.6, .2, .1, .05, .05]).astype("u1")
            affine = np.diag([*rng.uniform(0.5, 2, 3), 1])
            # The mask has the name that BIDS gives it.
            for collection, array, suffix in (("ct", values, "_T1w"), (
                    "seg", mask, "_desc-manual_dseg")):
                file = folder / collection / f"{name}{suffix}.nii"
                file.parent.mkdir(exist_ok=True)
                nib.save(nib.Nifti1Image(array, affine), file)
                if collection == "ct":
                    data = bytearray(file.read_bytes())
                    data[112:120] = struct.pack("<ff", slope, inter)
                    file.write_bytes(data)
            self.values.append(values.astype("f8") * slope + inter)
            self.masks.append(mask)
            self.names.append(name)
        for collection in "ct", "seg":
            subprocess.run([RADIO, "ingest", "-q", "-s", self.store, "-c",
                            collection, *sorted(
                                (folder / collection).iterdir())], check=True)

    def chosen(self, np, choose):
        """The voxels of all images that choose(mask) is true for."""
        return np.concatenate([v[choose(m)] for v, m in
                               zip(self.values, self.masks)])


def stats(store, *args, status=0):
    done = subprocess.run([RADIO, "stats", "-s", store, "--json",
                           *map(str, args)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout) if status == 0 else done.stderr


def assert_is(np, found, values):
    finite = values[np.isfinite(values)]
    assert found["count"] == len(values)
    assert found["nan_count"] == np.isnan(values).sum()
    assert (found["min"], found["max"]) == (finite.min(), finite.max())
    assert found["mean"] == pytest.approx(finite.mean(), rel=1e-13)
    assert found["std"] == pytest.approx(finite.std(), rel=1e-12)
    assert found["percentiles"] == {
        f"{p:g}": np.percentile(finite, p) for p in PERCENTS}
    low, high = found["histogram"]["range"]
    assert found["histogram"]["counts"] == np.histogram(
        finite, 37, (low, high))[0].tolist()


OPTIONS = ["--percentiles", ",".join(map(str, PERCENTS)), "--bins", 37,
           "--range", "-10.5,130"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scalings", [
    [(1, 0)], [(0.25, -3), (-2, 7)],
    [(1 + i / 64, i) for i in range(7)]], ids=["plain", "two", "seven"])
def test_pooled_voxels_have_numpys_statistics(np, nib, tmp_path, kind,
                                              scalings):
    study = Study(np, nib, tmp_path, KINDS[kind], scalings)
    assert_is(np, stats(study.store, "--pool", *OPTIONS, "ct"),
              np.concatenate([v.ravel() for v in study.values]))
    # nnU-Net's fingerprint: where the mask is positive, an ignored label left
    # out.
    assert_is(np, stats(study.store, "--pool", "--mask", "seg",
                        "--ignore-label", 255, *OPTIONS, "ct"),
              study.chosen(np, lambda m: (m > 0) & (m != 255)))
    for found, label in zip(stats(study.store, "--pool", "--mask", "seg",
                                  "--label", "2,0,255", *OPTIONS, "ct"),
                            [2, 0, 255], strict=True):
        assert found["label"] == label and found["volume_count"] == 7
        assert_is(np, found, study.chosen(np, lambda m: m == label))


def test_each_volume_has_its_own_without_pool(np, nib, tmp_path):
    study = Study(np, nib, tmp_path, ["i2"])
    found = stats(study.store, "--mask", "seg", *OPTIONS, "ct")
    assert [item["path"] for item in found] \
        == [f"ct/{name}_T1w" for name in study.names]
    for item, values, mask in zip(found, study.values, study.masks):
        assert_is(np, item, values[mask > 0])


def test_a_query_says_which_volumes_are_counted(np, nib, tmp_path):
    study = Study(np, nib, tmp_path, ["i2"])
    subprocess.run([RADIO, "index", "-s", study.store], check=True)
    found = stats(study.store, "--pool", "--mask", "seg", "--where",
                  'subject in ("sub-01", "sub-04")', *OPTIONS, "ct")
    assert found["volume_count"] == 2
    assert_is(np, found, np.concatenate([
        study.values[i][study.masks[i] > 0] for i in (1, 4)]))


def write_rows(study, folder, header, rows):
    """Sets columns of the table of subjects; an empty cell is missing."""
    table = folder / "rows.tsv"
    table.write_text("\n".join("\t".join(row) for row in [header, *rows])
                     + "\n")
    subprocess.run([RADIO, "index", "-s", study.store], check=True)
    subprocess.run([RADIO, "table", "-q", "-s", study.store, "--import",
                    table, "subjects"], check=True)


@pytest.mark.parametrize("kind", ["narrow", "wide"])
def test_groups_have_the_statistics_of_their_voxels(np, nib, tmp_path, kind):
    """Groups are in the order of values; the last is that without one."""
    study = Study(np, nib, tmp_path, KINDS[kind])
    ages = ["10", "", "9", "10", "-3", "", "9"]
    sites = ["b", "A", "", "a \"b\"", "b", "A", ""]
    write_rows(study, tmp_path, ["participant_id", "age", "site"], [
        [f"sub-{i:02}", age, site]
        for i, (age, site) in enumerate(zip(ages, sites))])
    for column, cells, order in (
            ("age", ages, ["-3", "9", "10", ""]),
            ("subject.site", sites, ["A", "a \"b\"", "b", ""])):
        found = stats(study.store, "--by", column, "--mask", "seg",
                      "--label", "1,3", *OPTIONS, "ct")
        expected = [(cell, label) for cell in order for label in (1, 3)]
        for item, (cell, label) in zip(found, expected, strict=True):
            value = None if cell == "" else int(cell) if column == "age" \
                else cell
            assert item["group"] == {column: value}
            assert item["label"] == label and "path" not in item
            members = [i for i in range(7) if cells[i] == cell]
            assert item["volume_count"] == len(members)
            assert_is(np, item, np.concatenate([
                study.values[i][study.masks[i] == label] for i in members]))
        assert [item["count"] for item in stats(study.store, "--by", column,
                                                "ct")] == [
            sum(study.values[i].size for i in range(7) if cells[i] == cell)
            for cell in order]
    text = subprocess.run([RADIO, "stats", "-s", study.store, "--by", "site",
                           "ct"], capture_output=True, text=True, check=True)
    assert [line for line in text.stdout.splitlines() if "site" in line] == [
        'site == "A", 2 volumes', 'site == "a \\"b\\"", 1 volume',
        'site == "b", 2 volumes', "site is missing, 2 volumes"]


def test_groups_are_of_selected_volumes_with_rows(np, nib, tmp_path):
    study = Study(np, nib, tmp_path, ["i2"])
    write_rows(study, tmp_path, ["participant_id", "site"], [
        [f"sub-{i:02}", "AB"[i % 2]] for i in range(6)])
    found = stats(study.store, "--by", "site", "--where", "site == 'B'",
                  *OPTIONS, "ct")
    assert [item["group"] for item in found] == [{"site": "B"}]
    assert_is(np, found[0], np.concatenate([
        study.values[i].ravel() for i in (1, 3, 5)]))
    said = stats(study.store, "--by", "siet", "ct", status=2)
    assert "--by: no column 'siet'; did you mean site?" in said
    assert "--by pools" in stats(study.store, "--by", "site", "--pool", "ct",
                                 status=2)
    file = tmp_path / "ct" / f"{study.names[0]}_T1w.nii"
    assert "has no row" in stats(study.store, "--by", "site", file, status=1)
    lone = tmp_path / "lone.zarr"
    subprocess.run(["cp", "-r", study.store, lone], check=True)
    (lone / "ct" / f"{study.names[0]}_T1w").rename(lone / "lone")
    said = stats(lone, "--by", "site", "lone", status=1)
    assert "lone: a volume in no collection, which has no row" in said
    # A volume that came without radio.
    subprocess.run(["cp", "-r", study.store / "ct" / f"{study.names[0]}_T1w",
                    study.store / "ct" / "new"], check=True)
    done = subprocess.run([RADIO, "stats", "-s", study.store, "--json", "--by",
                           "site", "ct"], capture_output=True, text=True)
    assert "1 volume without a row is counted where site" in done.stderr
    assert [(item["group"]["site"], item["volume_count"])
            for item in json.loads(done.stdout)] == [("A", 3), ("B", 3),
                                                     (None, 2)]


def test_masks_are_not_counted_beside_their_volumes(np, nib, tmp_path):
    """A query without an operand selects both; masks count if they are
    named."""
    study = Study(np, nib, tmp_path, ["i2"])
    subprocess.run([RADIO, "index", "-s", study.store], check=True)
    query = ["--where", "subject like '*'"]
    options = ["--pool", "--mask", "seg", *query, *OPTIONS]
    for more in [], [study.store]:
        found = stats(study.store, *options, *more)
        assert found["volume_count"] == 7
        assert_is(np, found, study.chosen(np, lambda m: m > 0))
    found = stats(study.store, "--mask", "seg", *query)
    assert [item["path"] for item in found] \
        == [f"ct/{name}_T1w" for name in study.names]
    masks = np.concatenate([m[m > 0] for m in study.masks]).astype("f8")
    assert_is(np, stats(study.store, *options, "seg"), masks)
    assert stats(study.store, *options, "seg", "ct")["volume_count"] == 14
    name = f"seg/{study.names[0]}_desc-manual_dseg"
    assert stats(study.store, *options, name)["volume_count"] == 1
    said = stats(study.store, "--pool", "--mask", "seg", "--where",
                 "volume like 'seg/*'", status=1)
    assert "seg: all volumes are masks" in said


def test_more_scalings_than_are_counted_are_read_again(np, nib, tmp_path):
    """With 17 of them tables would take too much memory."""
    rng = np.random.default_rng(3)
    files, values = [], []
    for i in range(17):
        array = rng.integers(-500, 500, (6, 5, 4)).astype("i2")
        files.append(tmp_path / f"p{i:02}.nii")
        nib.save(nib.Nifti1Image(array, np.eye(4)), files[-1])
        data = bytearray(files[-1].read_bytes())
        data[112:116] = struct.pack("<f", 1 + i / 32)
        files[-1].write_bytes(data)
        values.append(array.ravel() * (1 + i / 32))
    store = tmp_path / "s.zarr"
    subprocess.run([RADIO, "ingest", "-q", "-s", store, "-c", "pet", *files],
                   check=True)
    assert_is(np, stats(store, "--pool", *OPTIONS, "pet"),
              np.concatenate(values))


def test_a_mask_chooses_the_same_voxels_at_every_time(np, nib, tmp_path):
    rng = np.random.default_rng(4)
    image = rng.integers(0, 3000, (7, 6, 5, 9)).astype("i2")
    mask = rng.integers(0, 2, (7, 6, 5)).astype("u1")
    nib.save(nib.Nifti1Image(image, np.eye(4)), tmp_path / "a.nii")
    store = tmp_path / "s.zarr"
    for collection, array in ("bold", image), ("mask", mask):
        nib.save(nib.Nifti1Image(array, np.eye(4)), tmp_path / "a.nii")
        subprocess.run([RADIO, "ingest", "-q", "-s", store, "-c", collection,
                        tmp_path / "a.nii"], check=True)
    assert_is(np, stats(store, "--mask", "mask", *OPTIONS, "bold/a"),
              image[mask > 0].ravel())


def test_masks_that_do_not_fit_are_errors(np, nib, tmp_path):
    store, moved = tmp_path / "s.zarr", np.eye(4)
    moved[0, 3] = 0.5
    array = np.ones((4, 5, 6), "u1")
    for path, values, affine in (
            ("ct/a", array, np.eye(4)), ("ct/b", array, np.eye(4)),
            ("ct/c", array, np.eye(4)), ("seg/a", array, moved),
            ("seg/b", array[1:], np.eye(4))):
        nib.save(nib.Nifti1Image(values, affine),
                 tmp_path / f"{path[-1]}.nii")
        subprocess.run([RADIO, "ingest", "-q", "-s", store, "-c", path[:-2],
                        tmp_path / f"{path[-1]}.nii"], check=True)
    for name, message in (("a", "origin 0.5, 0, 0, not 0, 0, 0"),
                          ("b", "shape 3 x 5 x 6, but 4 x 5 x 6 in ct/b"),
                          ("c", "seg/c: no such volume"),
                          ("c", "; --where 'has(seg)' leaves out volumes")):
        assert message in stats(store, "--mask", "seg", f"ct/{name}",
                                status=1)
    assert "use --mask" in stats(store, "--label", 1, "ct", status=2)
    assert "need each other" in stats(store, "--bins", 3, "ct", status=2)
