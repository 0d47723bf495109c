/* SPDX-License-Identifier: MIT */
/* A gzipped image, whole or in members, and reads of it. */
#include <config.h>

#include <stdio.h>

#include "src/base/checked.h"
#include "src/volume/files/gunzip.h"
#include "src/volume/volume.h"
#include "tests/volume/zipped.h"

/* Voxels of 2 bytes that compress to about a half; 7 MB, so that members are
 * inflated in several tasks. */
static const struct nifti_spec spec = {
  .dim = { 3, 300, 200, 60 }, .datatype = 4,
};

struct rd_buffer image, voxels, zipped;
unsigned char plane[PLANE_NBYTES];

uint32_t
next_random (uint32_t *seed)
{
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 8;
}

/* In each 4 KiB the first nrandom bytes are random, the others have only these
 * bits. */
void
make_image (size_t nrandom, unsigned bits)
{
  uint32_t seed = 1;
  size_t nbytes = spec_data_nbytes (&spec);
  image.nbytes = voxels.nbytes = zipped.nbytes = 0;
  spec_image (&spec, &image);
  unsigned char *data = image.data + image.nbytes - nbytes;
  for (size_t i = 0; i < nbytes; i++)
    data[i] = next_random (&seed) & (i % 4096 < nrandom ? 0xff : bits);
  expected_elements (&spec, &image, &voxels);
  make_gzip (image.data, image.nbytes, 0, &zipped);
}

int
set_up_zipped (void **state)
{
  enter_folder (state);
  make_image (1024, 3);
  return 0;
}

int
tear_down_zipped (void **state)
{
  rd_buffer_free (&image);
  rd_buffer_free (&voxels);
  rd_buffer_free (&zipped);
  return leave_folder (state);
}

struct radio_context *
open_context (uint64_t memory_nbytes)
{
  const struct radio_context_options options = {
    .nthreads = 3, .memory_limit_nbytes = memory_nbytes,
  };
  struct radio_context *context;
  assert_ok (radio_context_open (&options, &context));
  return context;
}

/* Opens a.nii.gz. */
struct radio_volume *
open_file (struct radio_context *context, bool keep_index)
{
  const struct radio_file_options options = {
    .point_gap_nbytes = GAP_NBYTES, .keep_index = keep_index,
    .index_folder = "kept/here",
  };
  struct radio_volume *volume;
  assert_ok (radio_volume_open_file (context, "a.nii.gz", &options, &volume));
  return volume;
}

size_t
count_points (const struct radio_volume *volume)
{
  return rd_gunzip_npoints (volume->array->linear);
}

enum radio_status
read_plane (struct radio_volume *volume, uint64_t z)
{
  return radio_volume_read_plane (volume, RADIO_AXIAL, z, RADIO_STORED, plane,
                                  sizeof plane, NULL);
}

/* Reads every k-th plane, the last one first, and compares. */
void
assert_planes (struct radio_volume *volume, uint64_t k)
{
  for (uint64_t z = NPLANES; z-- > 0;)
    if (z % k == k - 1) {
      assert_ok (read_plane (volume, z));
      assert_memory_equal (plane, voxels.data + z * PLANE_NBYTES,
                           PLANE_NBYTES);
    }
}

void
assert_whole (struct radio_volume *volume)
{
  struct radio_elements all;
  assert_ok (radio_volume_read_alloc (volume, NULL, RADIO_STORED, NULL, &all));
  assert_int_equal (all.nbytes, voxels.nbytes);
  assert_memory_equal (all.data, voxels.data, all.nbytes);
  radio_free (all.data);
}

void
write_image (void)
{
  write_file (".", "a.nii.gz", &zipped);
}

/* Reads a.nii.gz so that its points are kept. */
void
keep_points (void)
{
  struct radio_context *context = open_context (0);
  struct radio_volume *volume = open_file (context, true);
  assert_planes (volume, 30);
  radio_volume_close (volume);
  radio_context_close (context);
}

void
read_back (const char *name, struct rd_buffer *bytes)
{
  FILE *file = fopen (name, "rb");
  assert_non_null (file);
  assert_ok (rd_buffer_reserve (bytes, 4 << 20));
  bytes->nbytes = fread (bytes->data, 1, bytes->capacity, file);
  assert_true (bytes->nbytes > 0 && bytes->nbytes < bytes->capacity);
  fclose (file);
}

/* Appends a member with the extra field of a kind, "BC", "IG", "MZ" or "":
 * none.  A lie is added to its length. */
void
append_member (struct rd_buffer *out, const unsigned char *data, size_t nbytes,
               const char *kind, bool has_name, int lie)
{
  struct rd_buffer one RD_BUFFER_SCOPE = { 0 };
  unsigned char header[40] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
  size_t n = 10, field = 0, length = kind[0] == 'B' ? 2 : 4;
  make_gzip (data, nbytes, 0, &one);
  if (*kind) {
    /* After another one. */
    static const unsigned char first[] = { 0, 0, 'x', 'y', 1, 0, 7 };
    header[3] |= 4;
    memcpy (header + n, first, sizeof first);
    header[n] = (unsigned char) (5 + 4 + length);
    n += sizeof first;
    memcpy (header + n, kind, 2);
    header[n + 2] = (unsigned char) length;
    field = n + 4;
    n = field + length;
  }
  if (has_name) {
    header[3] |= 8;
    memcpy (header + n, "name", 5);
    n += 5;
  }
  /* pgzip gives the whole, BGZF the same less 1, mgzip the data alone. */
  uint64_t said = one.nbytes - 18 + (uint64_t) lie
                  + (kind[0] == 'M' ? 0 : n + 8)
                  - (kind[0] == 'B' ? 1 : 0);
  for (size_t i = 0; *kind && i < length; i++)
    header[field + i] = (unsigned char) (said >> 8 * i);
  assert_ok (rd_buffer_append (out, header, n));
  assert_ok (rd_buffer_append (out, one.data + 10, one.nbytes - 10));
}

const struct member_form forms[NFORMS] = {
  { "BC", 352, 60000, false }, { "BC", 60000, 60000, true },
  { "IG", 1 << 20, 1 << 20, false }, { "IG", 1, 700000, true },
  { "MZ", 300000, 300000, true }, { "MZ", 300000, 300000, false },
  { "", 100000, 100000, false },
};

/* Members of a form; the liar-th has a wrong length in its header, or with a
 * lie of 0 a wrong one in its trailer. */
void
write_members (const struct member_form *form, size_t liar, int lie)
{
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  size_t i = 0;
  for (size_t at = 0, n = form->first_nbytes; at < image.nbytes;
       at += n, n = form->nbytes, i++) {
    n = rd_min_u64 (n, image.nbytes - at);
    append_member (&out, image.data + at, n, form->kind, form->has_name,
                   i == liar ? lie : 0);
    if (i == liar && lie == 0)
      out.data[out.nbytes - 4] ^= 1;
  }
  append_member (&out, image.data, 0, form->kind, false, 0);
  write_file (".", "a.nii.gz", &out);
}
