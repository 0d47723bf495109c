/* SPDX-License-Identifier: MIT */
/* Hostile NIfTI.  The first byte selects the kind of the rest: a header by
 * itself, with all that is computed from one, or a file (plain or gzip) that
 * is opened, read and finished. */
#include <config.h>

#include <string.h>
#include <unistd.h>

#include <radio/radio.h>

#include "src/element/box.h"
#include "src/nifti/image.h"
#include "tests/fuzz/fuzz.h"
#include "tests/nifti/make-nifti.h"

static void
check_box (const struct rd_nifti *nifti, const struct rd_buffer *prefix)
{
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  struct radio_box box = rd_box_whole (nifti->rank, nifti->shape);
  struct rd_nifti again;
  if (rd_nifti_box_header (nifti, prefix, &box, &out) != RADIO_OK)
    return;
  FUZZ_CHECK (rd_nifti_parse (out.data, out.nbytes, "box", &again)
              == RADIO_OK);
  FUZZ_CHECK (again.data_nbytes == nifti->data_nbytes);
}

static void
check_derived (const struct rd_nifti *nifti, const uint8_t *data,
               size_t nbytes)
{
  double affine[3][4], slope, inter;
  const char *source;
  char letters[4];
  size_t axis_of[3];
  int64_t strides[RADIO_MAX_RANK];
  rd_nifti_affine (nifti, affine, &source);
  (void) rd_orientation (affine, letters, axis_of);
  FUZZ_CHECK (axis_of[0] + axis_of[1] + axis_of[2] == 3);
  rd_nifti_scaling (nifti, &slope, &inter);
  rd_nifti_file_strides (nifti, nifti->shape, strides);
  struct rd_buffer prefix RD_BUFFER_SCOPE = { 0 };
  FUZZ_CHECK (rd_buffer_append (&prefix, data, nbytes) == RADIO_OK);
  check_box (nifti, &prefix);
  rd_nifti_strip (nifti, &prefix, NULL, NULL);
  FUZZ_CHECK (prefix.nbytes <= nbytes);
}

static void
run_header (const uint8_t *data, size_t nbytes)
{
  struct rd_nifti nifti;
  if (rd_nifti_parse (data, nbytes, "fuzz", &nifti) == RADIO_OK)
    check_derived (&nifti, data, nbytes);
}

/* Reads all of an image, as far as it exists; a header may claim up to 1032
 * times the rest of the file.  True if its voxels are whole; *is_sound if the
 * data after them is, too. */
static bool
read_file (const char *file, bool *is_sound)
{
  RD_CLEANUP (rd_cleanup_image) struct rd_image *image = NULL;
  unsigned char room[4096];
  uint64_t trailing;
  *is_sound = false;
  if (rd_image_open (file, &image) != RADIO_OK)
    return false;
  for (uint64_t left = image->nifti.data_nbytes; left > 0;) {
    size_t n = left < sizeof room ? (size_t) left : sizeof room;
    if (rd_image_read (image, room, n) != RADIO_OK)
      return false;
    left -= n;
  }
  FUZZ_CHECK (image->nread == image->nifti.data_nbytes);
  if (rd_image_finish (image, &trailing) != RADIO_OK)
    return false;
  FUZZ_CHECK (rd_input_position (image->voxels)
              == rd_input_file_nbytes (image->voxels));
  *is_sound = image->problem == NULL;
  return true;
}

/* Reads the same as a volume: its last voxel, which takes all before it, then
 * everything from points of entry, then everything to the checksum.  What is
 * read as a stream is read so, too; what follows the voxels may be wrong, which
 * only the last of these says. */
static void
read_volume (const char *file, bool is_whole, bool is_sound)
{
  static unsigned char room[1 << 16];
  const struct radio_file_options options = { .point_gap_nbytes = 1000 };
  struct radio_volume *volume;
  struct radio_volume_info info;
  if (radio_volume_open_file (NULL, file, &options, &volume) != RADIO_OK)
    return;
  radio_volume_get_info (volume, &info);
  struct radio_box box = { .rank = info.array.rank };
  memcpy (box.size, info.array.shape, sizeof box.size);
  uint64_t n = radio_box_count (&box);
  if (n > 0 && n <= sizeof room / info.array.item_nbytes) {
    struct radio_box last = { .rank = box.rank };
    for (size_t i = 0; i < box.rank; i++) {
      last.start[i] = box.size[i] - 1;
      last.size[i] = 1;
    }
    enum radio_status statuses[] = {
      radio_volume_read (volume, &last, RADIO_STORED, room, sizeof room, NULL),
      radio_volume_read (volume, &box, RADIO_STORED, room, sizeof room, NULL),
      radio_volume_validate (volume, NULL, NULL, NULL),
    };
    for (size_t i = 0; i < 2; i++)
      FUZZ_CHECK (!is_whole || statuses[i] == RADIO_OK);
    FUZZ_CHECK (!is_sound || statuses[2] == RADIO_OK);
    FUZZ_CHECK (is_whole || statuses[2] != RADIO_OK);
  }
  radio_volume_close (volume);
}

static void
run_file (const uint8_t *data, size_t nbytes)
{
  char file[] = "fuzz-nifti.XXXXXX";
  int fd = mkstemp (file);
  FUZZ_CHECK (fd >= 0);
  FUZZ_CHECK (write (fd, data, nbytes) == (ssize_t) nbytes);
  FUZZ_CHECK (close (fd) == 0);
  bool is_sound, is_whole = read_file (file, &is_sound);
  read_volume (file, is_whole, is_sound);
  FUZZ_CHECK (unlink (file) == 0);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  if (nbytes < 1)
    return 0;
  if (data[0] % 2 == 0)
    run_header (data + 1, nbytes - 1);
  else
    run_file (data + 1, nbytes - 1);
  return 0;
}

static const struct nifti_spec seeds[] = {
  { .version = 1, .sform_code = 1, .srow = { { 1 }, { 0, 1 }, { 0, 0, 1 } } },
  { .version = 1, .big_endian = true, .datatype = 128 },
  { .version = 2, .qform_code = 1, .quatern = { 0.5, 0.5, 0.5 },
    .dim = { 5, 3, 3, 3, 2, 2, 1, 1 } },
  { .version = 2, .big_endian = true, .vox_offset = 1000,
    .extension = "\x10\0\0\0\6\0\0\0comment", .extension_nbytes = 16 },
};

enum { SPEC_COUNT = sizeof seeds / sizeof seeds[0] };

/* Seeds of each spec: header, plain file, gzip of one member and of many. */
size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  struct rd_buffer image RD_BUFFER_SCOPE = { 0 }, gz RD_BUFFER_SCOPE = { 0 };
  unsigned kind = i / SPEC_COUNT;
  if (kind > 3)
    return 0;
  spec_image (&seeds[i % SPEC_COUNT], &image);
  const struct rd_buffer *chosen = &image;
  if (kind > 1) {
    make_gzip (image.data, image.nbytes, kind == 2 ? 0 : 200, &gz);
    chosen = &gz;
  }
  FUZZ_CHECK (chosen->nbytes < room);
  out[0] = kind > 0;
  memcpy (out + 1, chosen->data, chosen->nbytes);
  return chosen->nbytes + 1;
}
