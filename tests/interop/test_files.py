# SPDX-License-Identifier: MIT
"""Images in their files are read exactly as nibabel reads them: random boxes of
.nii and .nii.gz, of one member and of many, in either byte order, and by
threads at once; and commands give the same for each generated image and its
volume."""

import gzip
import json
import os
import random
import subprocess
import threading
import zlib

import pytest
from conftest import BUILD, missing

from radio_library import RadioError, Volume

# Deflate's blocks, as one gets them from others' levels of compression.
LEVELS = (1, 6, 9)


def variants(nib, np, folder):
    """Writes a noisy image in each form; yields (file, voxels as x, y, z)."""
    rng = np.random.default_rng(1)
    x, y, z = np.meshgrid(*map(np.arange, (70, 61, 50)), indexing="ij")
    head = 1000 * np.exp(-((x - 35)**2 + (y - 30)**2 + (z - 25)**2) / 800)
    voxels = (head + rng.normal(0, 8, head.shape)).astype(np.int16)
    forms = [("int16", "<"), ("int16", ">"), ("uint8", "<"), ("float32", ">"),
             ("float64", "<")]
    for dtype, order in forms:
        data = voxels.astype(dtype).astype(np.dtype(dtype).newbyteorder(order))
        for kind in nib.Nifti1Image, nib.Nifti2Image:
            header = kind.header_class(endianness=order)
            header.set_data_dtype(data.dtype)
            header.set_data_shape(data.shape)
            image = kind(data, np.diag([1, 2, 3, 1]), header)
            name = f"{kind.__name__}-{dtype}-{'be' if order == '>' else 'le'}"
            plain = folder / f"{name}.nii"
            nib.save(image, plain)
            content = plain.read_bytes()
            yield plain, data
            if kind is nib.Nifti2Image:
                continue
            for level in LEVELS:
                zipped = folder / f"{name}-{level}.nii.gz"
                zipped.write_bytes(gzip.compress(content, level))
                yield zipped, data
            for nbytes in 65280, 199_983:
                members = folder / f"{name}-members-{nbytes}.nii.gz"
                members.write_bytes(b"".join(
                    gzip.compress(content[i:i + nbytes])
                    for i in range(0, len(content), nbytes)))
                yield members, data
        pair = nib.Nifti1Pair(data, np.diag([1, 2, 3, 1]))
        nib.save(pair, folder / f"pair-{dtype}-{order == '>'}.hdr")
        yield folder / f"pair-{dtype}-{order == '>'}.img", data


def random_box(rng, shape):
    start = [rng.randrange(n) for n in shape]
    return start, [rng.randint(1, min(32, n - s))
                   for n, s in zip(shape, start)]


def check_boxes(np, volume, array, n, seed):
    """Compares n random boxes; one in 20 is a plane."""
    rng = random.Random(seed)
    for i in range(n):
        start, size = random_box(rng, array.shape)
        if i % 20 == 0:
            axis = rng.randrange(3)
            for k in range(3):
                if k != axis:
                    start[k], size[k] = 0, array.shape[k]
            size[axis] = 1
        want = array[tuple(slice(s, s + n) for s, n in zip(start, size))]
        got = volume.read(start, size, array.dtype.newbyteorder("="))
        assert np.array_equal(got, want), (start, size)


def test_random_boxes_of_every_form_equal_nibabel(nib, np, tmp_path):
    n = 0
    for file, data in variants(nib, np, tmp_path):
        saved = nib.load(file).dataobj.get_unscaled()
        assert np.array_equal(saved, data)
        for gap, mapped in ((0, False), (50_000, True)):
            with Volume.of_file(file, gap, mapped=mapped) as volume:
                check_boxes(np, volume, data.T, 50, n)
        n += 1
    assert n > 30


@pytest.mark.parametrize("form", ["nii", "members", "big-endian", "pair"])
def test_a_thousand_boxes_of_a_real_image_equal_nibabel(
        nib, np, templates, tmp_path, form):
    """As .nii.gz each of them is in test_real_images."""
    file = next(f for f in templates if f.name == "ch2better.nii.gz")
    data = np.asanyarray(nib.load(file).dataobj.get_unscaled())
    content = gzip.decompress(file.read_bytes())
    if form == "nii":
        file = tmp_path / "a.nii"
        file.write_bytes(content)
    elif form == "big-endian":
        image = nib.Nifti1Image(data.astype(">i2") * 100, np.eye(4),
                                nib.Nifti1Header(endianness=">"))
        file = tmp_path / "a.nii"
        nib.save(image, file)
        data = np.asanyarray(nib.load(file).dataobj.get_unscaled())
        assert data.dtype.byteorder == ">"
    elif form == "pair":
        file = tmp_path / "a.img"
        nib.save(nib.Nifti1Pair(data, np.eye(4)), file)
    elif form == "members":
        file = tmp_path / "a.nii.gz"
        file.write_bytes(b"".join(
            gzip.compress(content[i:i + 1_000_000], 1)
            for i in range(0, len(content), 1_000_000)))
    with Volume.of_file(file, point_gap_nbytes=1 << 20) as volume:
        check_boxes(np, volume, data.T, 1000, 3)


def check_boxes_by_threads(np, volume, array):
    failed = []

    def work(seed):
        try:
            check_boxes(np, volume, array, 30, seed)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_threads_read_one_file_at_once(nib, np, templates):
    file = next(f for f in templates if f.name == "ch2.nii.gz")
    array = np.asanyarray(nib.load(file).dataobj.get_unscaled()).T
    with Volume.of_file(file, point_gap_nbytes=300_000) as volume:
        check_boxes_by_threads(np, volume, array)


def test_asynchronous_reads_of_a_file_equal_nibabel(nib, np, templates):
    file = next(f for f in templates if f.name == "ch2.nii.gz")
    array = np.asanyarray(nib.load(file).dataobj.get_unscaled()).T
    rng = random.Random(5)
    with Volume.of_file(file) as volume:
        boxes = [random_box(rng, array.shape) for _ in range(20)]
        reads = [volume.start_read(*box, array.dtype) for box in boxes]
        for (start, size), read in zip(boxes, reads):
            want = array[tuple(slice(s, s + n) for s, n in zip(start, size))]
            assert np.array_equal(read.wait(), want)


@pytest.mark.parametrize("form", [".nii", ".nii.gz"])
def test_a_file_cut_anywhere_gives_right_voxels_or_an_error(
        nib, np, templates, tmp_path, form):
    file = next(f for f in templates if f.name == "ch2bet.nii.gz")
    array = np.asanyarray(nib.load(file).dataobj.get_unscaled()).T
    whole = file.read_bytes()
    if form == ".nii":
        whole = gzip.decompress(whole)
    nread = nfailed = 0
    for i in range(12):
        cut = tmp_path / f"{i}{form}"
        cut.write_bytes(whole[:len(whole) * i // 12 + 400])
        try:
            volume = Volume.of_file(cut, point_gap_nbytes=500_000)
        except RadioError:
            assert i == 0
            continue
        with volume:
            for z in list(range(0, array.shape[0], 7)) * 2:
                try:
                    got = volume.read([z, 0, 0], [1, *array.shape[1:]],
                                      array.dtype)
                except RadioError as error:
                    assert "cut short" in str(error)
                    nfailed += 1
                    continue
                assert np.array_equal(got[0], array[z])
                nread += 1
    assert nread > 50 and nfailed > 50


def member(content, flags):
    """A member with the header's optional fields."""
    head = bytes([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3])
    if flags & 4:
        head += (3000).to_bytes(2, "little") + bytes(range(1, 251)) * 12
    if flags & 8:
        head += b"a name" * 50 + b"\0"
    if flags & 16:
        head += b"a comment" * 30 + b"\0"
    if flags & 2:
        head += (zlib.crc32(head) & 0xffff).to_bytes(2, "little")
    deflate = zlib.compressobj(0, zlib.DEFLATED, -15)
    return head + deflate.compress(content) + deflate.flush() \
        + zlib.crc32(content).to_bytes(4, "little") \
        + len(content).to_bytes(4, "little")


# Reads of a volume's voxels; the first two of an ingested file.
@pytest.mark.parametrize("end", [128 << 10, 8 << 10, (8 << 10) + (256 << 10)])
def test_a_header_of_a_member_may_lie_anywhere(nib, np, radio, tmp_path, end):
    """Its fields are across the end of the bytes that are read at once."""
    data = np.random.default_rng(2).integers(
        0, 255, (100, 90, 70), np.uint8)
    nib.save(nib.Nifti1Image(data, np.eye(4)), tmp_path / "a.nii")
    content = (tmp_path / "a.nii").read_bytes()
    file = tmp_path / "a.nii.gz"
    for flags in 2, 4, 12, 30:
        for before in 1, 5, 11, 200, 3011, 3050, 3330:
            # What is stored has 5 bytes for each 65,535; and the trailer.
            n = end - before - 18
            first = content[:n - 5 * (n // 65535 + 1)]
            file.write_bytes(member(first, 0)
                             + member(content[len(first):], flags))
            with Volume.of_file(file) as volume:
                got = volume.read([0, 0, 0], data.T.shape, np.uint8)
            assert np.array_equal(got, data.T), (flags, before)
            radio("ingest", "-s", tmp_path / "s.zarr", file, "--overwrite")


@pytest.fixture(scope="module")
def noisy(nib, np, tmp_path_factory):
    """A file of 12 MB, and its voxels."""
    rng = np.random.default_rng(3)
    data = rng.normal(0, 40, (200, 200, 150)).astype(np.int16)
    file = tmp_path_factory.mktemp("noisy") / "a.nii.gz"
    nib.save(nib.Nifti1Image(data, np.eye(4)), file)
    return file, data


@pytest.mark.parametrize("size", ["64K", "1M"])
def test_exported_members_are_read_by_others(
        nib, np, radio, noisy, tmp_path, size):
    import indexed_gzip
    import pgzip
    file, data = noisy
    content = gzip.decompress(file.read_bytes())
    members = tmp_path / "a.nii.gz"
    radio("export", file, "--members", size, "-o", members)
    packed = members.read_bytes()
    assert packed[12:14] == b"IG"
    assert gzip.decompress(packed) == content
    assert subprocess.run(["gzip", "-dc", members], check=True,
                          stdout=subprocess.PIPE).stdout == content
    assert np.array_equal(nib.load(members).dataobj.get_unscaled(), data)
    with pgzip.open(members, "rb", thread=2) as opened:
        assert opened.read() == content
        assert opened.get_index()
    with indexed_gzip.IndexedGzipFile(members, spacing=1 << 20) as opened:
        opened.seek(5_000_001)
        assert opened.read(1000) == content[5_000_001:5_001_001]


def bgzf(content):
    """Members of 64 KiB that say how long they are, and the empty last one."""
    blocks = []
    for i in range(0, len(content) + 65280, 65280):
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        block = content[i:i + 65280]
        body = deflate.compress(block) + deflate.flush()
        blocks.append(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\6\0BC\2\0"
                      + (len(body) + 25).to_bytes(2, "little") + body
                      + zlib.crc32(block).to_bytes(4, "little")
                      + len(block).to_bytes(4, "little"))
    return b"".join(blocks)


@pytest.mark.parametrize("writer", ["pgzip", "bgzf"])
def test_members_of_others_are_read(nib, np, noisy, tmp_path, writer):
    import pgzip
    file, data = noisy
    content = gzip.decompress(file.read_bytes())
    members = tmp_path / "a.nii.gz"
    if writer == "pgzip":
        with pgzip.open(members, "wb", thread=2, blocksize=700_000) as opened:
            opened.write(content)
    else:
        members.write_bytes(bgzf(content))
    with Volume.of_file(members) as volume:
        got = volume.read([0, 0, 0], data.T.shape, np.int16)
        assert np.array_equal(got, data.T)
        check_boxes(np, volume, data.T, 100, 4)


def index_of(file, version):
    """indexed_gzip's index; version 0 has no windows' flags."""
    import indexed_gzip
    name = file.with_name(file.name + ".gzidx")
    with indexed_gzip.IndexedGzipFile(file, spacing=1 << 20) as opened:
        opened.build_full_index()
        opened.export_index(str(name))
    if version == 1:
        return name
    index = name.read_bytes()
    n = int.from_bytes(index[31:35], "little")
    points = [index[35 + 18 * i:53 + 18 * i] for i in range(n)]
    assert [p[17] for p in points] == [0] + [1] * (n - 1)
    name.write_bytes(index[:5] + b"\0" + index[6:35]
                     + b"".join(p[:17] for p in points) + index[35 + 18 * n:])
    return name


@pytest.mark.parametrize("version", [0, 1])
def test_an_index_of_indexed_gzip_is_used(np, noisy, tmp_path, version):
    """The damage in the middle is passed by the points after it, with the
    index alone; and the index is not used if it is older."""
    file = tmp_path / "a.nii.gz"
    content = bytearray(noisy[0].read_bytes())
    file.write_bytes(content)
    index = index_of(file, version)
    whole = noisy[1].T
    with Volume.of_file(file) as volume:
        check_boxes(np, volume, whole, 100, 5)
    third = len(content) // 3
    content[third:third + 5000] = bytes(5000)
    file.write_bytes(content)
    os.utime(file, ns=(0, index.stat().st_mtime_ns))

    def last_plane():
        with Volume.of_file(file) as volume:
            return volume.read([149, 0, 0], [1, 200, 200], np.int16)[0]

    assert np.array_equal(last_plane(), whole[149])
    os.utime(file, ns=(0, index.stat().st_mtime_ns + 1))
    with pytest.raises(RadioError, match="damaged"):
        last_plane()
    os.utime(file, ns=(0, index.stat().st_mtime_ns))
    index.rename(tmp_path / "a.nii.gzidx")
    assert np.array_equal(last_plane(), whole[149])
    file.write_bytes(content + bytes(1))
    os.utime(file, ns=(0, 0))
    with pytest.raises(RadioError, match="damaged"):
        last_plane()


def test_wrong_values_are_found_by_threads_with_an_index(
        np, noisy, tmp_path):
    """indexed_gzip's has no checksums."""
    file = tmp_path / "a.nii.gz"
    content = bytearray(noisy[0].read_bytes())
    file.write_bytes(content)
    index = index_of(file, 1)
    plain = zlib.decompress(content[10:], -15)

    def flip(bit):
        content[bit // 8] ^= 1 << bit % 8
        inflate = zlib.decompressobj(-15)
        try:
            got = inflate.decompress(content[10:])
        except zlib.error:
            got = b""
        if inflate.eof and len(got) == len(plain):
            return True
        content[bit // 8] ^= 1 << bit % 8
        return False

    assert any(flip(bit) for bit in range(len(content) // 2 * 8,
                                          len(content) * 8))
    file.write_bytes(content)
    os.utime(file, ns=(0, index.stat().st_mtime_ns))
    with Volume.of_file(file) as volume:
        shape = noisy[1].T.shape
        with pytest.raises(RadioError, match="do not match"):
            volume.read([0, 0, 0], shape, np.int16)
        assert volume.read([0, 0, 0], [1, *shape[1:]], np.int16).any()


@pytest.mark.parametrize("wrong", ["windows", "places"])
def test_a_wrong_index_is_not_used(np, radio, noisy, tmp_path, wrong):
    file = tmp_path / "a.nii.gz"
    file.write_bytes(noisy[0].read_bytes())
    index = index_of(file, 1)
    content = bytearray(index.read_bytes())
    n = int.from_bytes(content[31:35], "little")
    points = 35 + 18 * n
    if wrong == "windows":
        content[points:] = bytes(len(content) - points)
    else:
        for i in range(1, n):
            content[35 + 18 * i] ^= 1
    index.write_bytes(content)
    whole = noisy[1].T
    with Volume.of_file(file) as volume:
        check_boxes(np, volume, whole, 20, 7)
        assert np.array_equal(volume.read([0, 0, 0], whole.shape, np.int16),
                              whole)
    for z in 100, 40, 149:
        with Volume.of_file(file) as volume:
            got = volume.read([z, 0, 0], [1, *whole.shape[1:]], np.int16)
            assert np.array_equal(got[0], whole[z])
    run = radio("roi", file, "--z", "100", "-o", tmp_path / "o.npy")
    assert run.stderr.count("its index (.gzidx)") == 1
    assert np.array_equal(np.load(tmp_path / "o.npy").squeeze(),
                          whole[100].T)


def test_an_index_of_a_file_of_members_is_used(np, noisy, tmp_path):
    file = tmp_path / "a.nii.gz"
    content = gzip.decompress(noisy[0].read_bytes())
    file.write_bytes(b"".join(gzip.compress(content[i:i + 900_001], 1)
                              for i in range(0, len(content), 900_001)))
    index_of(file, 1)
    with Volume.of_file(file) as volume:
        check_boxes(np, volume, noisy[1].T, 200, 6)


@pytest.fixture(scope="module")
def fixtures(radio, tmp_path_factory):
    """Returns the generated images by the names of their volumes, and a store
    of these."""
    program = BUILD / "tests" / "fixtures" / "make-fixtures"
    if not program.exists():
        missing("what make check builds")
    folder = tmp_path_factory.mktemp("fixtures")
    subprocess.run([program, folder], check=True, stdout=subprocess.DEVNULL)
    files = {}
    for file in sorted(folder.glob("good-*")):
        if not file.name.endswith((".img", ".img.gz")):
            files[file.name.removesuffix(".gz").rsplit(".", 1)[0]] = file
    store = folder / "s.zarr"
    radio("ingest", "-q", "-s", store, "-c", "c", *files.values())
    assert len(files) > 340
    return files, store


def contents(folder):
    """The files of a folder, whose names may be of a collection or not."""
    return {file.name: file.read_bytes() for file in folder.rglob("*")
            if file.is_file()}


def is_plain(name):
    """Colours and complex numbers have no values that are computed."""
    return "rgb" not in name and "complex" not in name


# Of the file alone, or of how it is stored.
STORED = ("path", "tiling", "tile_shape", "chunk_shape", "codec", "codecs",
          "codecs_json", "stored_nbytes", "ratio", "source", "source_name",
          "reads", "tile_count")


def printed(radio, command, *arguments):
    """What a command says about each volume, without how it is stored."""
    return [{k: v for k, v in one.items() if k not in STORED}
            for one in json.loads(radio(command, "--json", *arguments).stdout)]


@pytest.mark.parametrize("command", [
    ["info"], ["info", "--apply", "flip x | pad 1,0,2 edge"], ["stats"],
    ["stats", "--raw"], ["stats", "--apply", "linear 2,1 | flip y"],
    ["validate"]])
def test_a_command_says_the_same_of_each_image_and_of_its_volume(
        radio, fixtures, command):
    files, store = fixtures
    names = [n for n in files if command[0] != "stats" or is_plain(n)]
    of_files = printed(radio, *command, *[files[n] for n in names])
    of_volumes = printed(radio, *command, "-s", store,
                         *[f"c/{n}" for n in names])
    assert len(of_files) == len(names) and of_files == of_volumes


def test_what_is_applied_to_each_image_is_what_is_applied_to_its_volume(
        radio, fixtures, tmp_path):
    files, store = fixtures
    names = [n for n in files if is_plain(n)]
    pipeline = "pad 1,0,0 edge | resample 1.5 | clamp 0,200"
    radio("apply", pipeline, *[files[n] for n in names], "--to", tmp_path / "a",
          "-c", "x")
    radio("apply", pipeline, "-s", store, *[f"c/{n}" for n in names], "--to",
          tmp_path / "b", "-c", "x")
    for to in "ab":
        radio("export", "-s", tmp_path / to, "x", "-o", f"{tmp_path}/out-{to}/")
    written = contents(tmp_path / "out-a")
    assert len(written) == len(names)
    assert written == contents(tmp_path / "out-b")


@pytest.mark.parametrize("command", [
    ["roi", "--x", ":1"], ["export", "--format", "npy", "--size", "1"],
    ["export", "--format", "nii", "--apply", "pad 1,2,0 edge | flip x"],
    ["roi", "--z", ":1", "--apply", "linear 2,1 | to 5,4,3 cubic"]])
def test_a_command_gives_the_same_of_each_image_and_of_its_volume(
        radio, fixtures, tmp_path, command):
    files, store = fixtures
    names = [n for n in files if "cubic" not in command[-1] or is_plain(n)]
    radio(*command, *[files[n] for n in names], "-o", f"{tmp_path}/a/")
    radio(*command, "-s", store, *[f"c/{n}" for n in names],
          "-o", f"{tmp_path}/b/")
    written = contents(tmp_path / "a")
    assert len(written) == len(names)
    assert written == contents(tmp_path / "b")


def test_planes_are_the_same_of_an_image_and_of_its_volume(
        radio, fixtures, tmp_path):
    files, store = fixtures
    for i, (name, file) in enumerate(list(files.items())[::9]):
        axis = ["axial", "coronal", "sagittal"][i % 3]
        planes = []
        for operands in [file], ["-s", store, f"c/{name}"]:
            radio("slice", *operands, "--axis", axis, "-i", "0", "-o",
                  tmp_path / "p.npy", "--overwrite")
            planes.append((tmp_path / "p.npy").read_bytes())
        assert planes[0] == planes[1], name
