/* SPDX-License-Identifier: MIT */
/* Files of points of entry: their names, and the format of radio's own.  Their
 * numbers are compared with their size before anything is allocated. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/io.h"
#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/base/crc32c.h"
#include "src/base/little.h"
#include "src/base/text.h"
#include "src/base/whole-file.h"
#include "src/nifti/input.h"
#include "src/volume/files/index-file.h"

static const unsigned char magic[8] = "RADIOPTS";

enum {
  INDEX_VERSION = 1,
  HEADER_NBYTES = 56,
  POINT_NBYTES = 32,
  CRC_NBYTES = 4,
  IS_MEMBER = 1,
  HAS_CRC32 = 2,
};

/*------------------------------------------------------------------------
 * The format
 *----------------------------------------------------------------------*/

/* The members of the header that name the file. */
static void
put_key (unsigned char *header, const struct rd_points_key *key)
{
  memcpy (header, magic, sizeof magic);
  rd_put_little (header + 8, INDEX_VERSION, 4);
  rd_put_little (header + 12, 0, 4);
  rd_put_little (header + 16, key->nbytes, 8);
  rd_put_little (header + 24, key->mtime_ns, 8);
  rd_put_little (header + 32, key->head_crc32c, 4);
  rd_put_little (header + 36, key->tail_crc32c, 4);
}

/* The points go after the header, the histories after all points. */
struct packing {
  struct rd_buffer *out, *histories;
};

static enum radio_status
pack_point (const struct rd_point *given, void *user_data)
{
  struct packing *packing = user_data;
  RD_FREE unsigned char *packed = NULL;
  struct rd_point deflated = *given;
  const struct rd_point *point = &deflated;
  if (given->is_state)
    return RADIO_OK;
  if (given->is_raw) {
    if (!rd_point_pack (&deflated, given->packed, given->packed_nbytes))
      return rd_fail_memory (RD_POINT_PACKED_NBYTES);
    packed = deflated.packed;
  }
  struct rd_buffer *out = packing->out;
  unsigned char bytes[POINT_NBYTES] = { 0 };
  rd_put_little (bytes, point->output, 8);
  rd_put_little (bytes + 8, point->input, 8);
  rd_put_little (bytes + 16, point->packed_nbytes, 2);
  rd_put_little (bytes + 18, point->history_nbytes, 2);
  bytes[20] = (unsigned char) point->bit;
  bytes[21] = (unsigned char) ((point->is_member ? IS_MEMBER : 0)
                               | (point->has_crc32 ? HAS_CRC32 : 0));
  rd_put_little (bytes + 24, point->crc32, 4);
  rd_put_little (bytes + 28, point->member_nbytes, 4);
  rd_put_little (out->data + 40, rd_get_little (out->data + 40, 8) + 1, 8);
  rd_put_little (out->data + 48,
                 rd_get_little (out->data + 48, 8) + point->packed_nbytes, 8);
  RD_TRY (rd_buffer_append (out, bytes, sizeof bytes));
  return rd_buffer_append (packing->histories, point->packed,
                           point->packed_nbytes);
}

enum radio_status
rd_index_pack (const struct rd_points_key *key, struct rd_points *points,
               struct rd_buffer *out)
{
  struct rd_buffer histories RD_BUFFER_SCOPE = { 0 };
  unsigned char header[HEADER_NBYTES] = { 0 }, crc[CRC_NBYTES];
  put_key (header, key);
  out->nbytes = 0;
  RD_TRY (rd_buffer_append (out, header, sizeof header));
  struct packing packing = { out, &histories };
  RD_TRY (rd_points_each (points, pack_point, &packing));
  RD_TRY (rd_buffer_append (out, histories.data, histories.nbytes));
  rd_put_little (crc, rd_crc32c (0, out->data, out->nbytes), sizeof crc);
  return rd_buffer_append (out, crc, sizeof crc);
}

static enum radio_status
fail (const char *why)
{
  return rd_fail (RADIO_ERROR_FORMAT, "points of entry: %s", why);
}

/* Checks a point against the one before it and the file's size. */
static bool
is_possible (const struct rd_point *point, const struct rd_point *before,
             uint64_t gzip_nbytes)
{
  if (point->bit > 7 || point->input >= gzip_nbytes
      || point->history_nbytes > RD_POINT_HISTORY_NBYTES
      || point->packed_nbytes > RD_POINT_PACKED_NBYTES
      || (point->history_nbytes == 0) != (point->packed_nbytes == 0)
      || (point->is_member && (point->bit > 0 || point->history_nbytes > 0
                               || point->has_crc32)))
    return false;
  return !before
         || (point->output >= before->output
             && (point->input > before->input
                 || (point->input == before->input
                     && point->bit > before->bit)));
}

static struct rd_point
get_point (const unsigned char *bytes)
{
  return (struct rd_point) {
    .output = rd_get_little (bytes, 8), .input = rd_get_little (bytes + 8, 8),
    .packed_nbytes = (uint32_t) rd_get_little (bytes + 16, 2),
    .history_nbytes = (uint32_t) rd_get_little (bytes + 18, 2),
    .bit = bytes[20], .is_member = bytes[21] & IS_MEMBER,
    .has_crc32 = bytes[21] & HAS_CRC32,
    .crc32 = (uint32_t) rd_get_little (bytes + 24, 4),
    .member_nbytes = (uint32_t) rd_get_little (bytes + 28, 4),
  };
}

enum radio_status
rd_index_parse (const unsigned char *bytes, size_t nbytes,
                const struct rd_points_key *key, struct rd_points *points)
{
  unsigned char wanted[HEADER_NBYTES] = { 0 };
  put_key (wanted, key);
  if (nbytes < HEADER_NBYTES + CRC_NBYTES
      || memcmp (bytes, magic, sizeof magic) != 0)
    return fail ("not a file of points");
  if (rd_get_little (bytes + 8, 4) != INDEX_VERSION)
    return fail ("a version that is not known");
  if (memcmp (bytes, wanted, 40) != 0)
    return fail ("of another file, or of this one before it changed");
  uint64_t n = rd_get_little (bytes + 40, 8);
  uint64_t left = rd_get_little (bytes + 48, 8);
  size_t room = nbytes - HEADER_NBYTES - CRC_NBYTES;
  if (n > room / POINT_NBYTES || left != room - n * POINT_NBYTES)
    return fail ("its size is wrong");
  if (rd_get_little (bytes + nbytes - CRC_NBYTES, CRC_NBYTES)
      != rd_crc32c (0, bytes, nbytes - CRC_NBYTES))
    return fail ("its checksum does not match");
  const unsigned char *list = bytes + HEADER_NBYTES;
  struct rd_point before;
  for (uint64_t i = 0; i < n; i++) {
    struct rd_point point = get_point (list + i * POINT_NBYTES);
    if (!is_possible (&point, i > 0 ? &before : NULL, key->nbytes)
        || point.packed_nbytes > left)
      return fail ("a point that cannot be");
    left -= point.packed_nbytes;
    before = point;
  }
  if (left > 0)
    return fail ("its size is wrong");
  const unsigned char *packed = list + n * POINT_NBYTES;
  for (uint64_t i = 0; i < n; i++) {
    struct rd_point point = get_point (list + i * POINT_NBYTES);
    rd_points_add_copy (points, &point, packed);
    packed += point.packed_nbytes;
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * indexed_gzip's format: "GZIDX", version, flags; the sizes of the file, packed
 * and unpacked; spacing, size of the windows and number of points; for each
 * point the first whole byte of its data, its output, the bits that precede
 * that byte and (from version 1) if it has a window; then the windows.  Points
 * without a window are where the data of a member begin.
 *----------------------------------------------------------------------*/

enum { GZIDX_HEADER_NBYTES = 35 };

struct gzidx {
  unsigned version;
  uint64_t unpacked_nbytes;           /* 0: not known */
  uint32_t window_nbytes, n;
  size_t point_nbytes;
};

/* Reads the i-th point; it is at the end of the file if it is not *in_use. */
static struct rd_point
get_gzidx_point (const struct gzidx *gzidx, const unsigned char *bytes,
                 uint32_t i, bool *has_window, bool *in_use)
{
  const unsigned char *at = bytes + GZIDX_HEADER_NBYTES
                            + i * gzidx->point_nbytes;
  struct rd_point point = {
    .input = rd_get_little (at, 8), .output = rd_get_little (at + 8, 8),
  };
  unsigned nbits = at[16];
  /* Where the bits begin, in the byte before. */
  if (nbits > 0 && point.input > 0) {
    point.input--;
    point.bit = (8 - nbits) & 0xff;
  } else if (nbits > 0)
    point.bit = 8;
  *has_window = gzidx->version > 0 ? at[17] != 0 : i > 0;
  point.history_nbytes = *has_window ? RD_POINT_HISTORY_NBYTES : 0;
  point.packed_nbytes = *has_window ? 1 : 0;
  /* Known only at the start: the checksum of no bytes. */
  point.has_crc32 = !*has_window;
  *in_use = gzidx->unpacked_nbytes == 0
            || point.output < gzidx->unpacked_nbytes;
  return point;
}

enum radio_status
rd_gzidx_parse (const unsigned char *bytes, size_t nbytes,
                uint64_t gzip_nbytes, struct rd_points *points)
{
  if (nbytes < GZIDX_HEADER_NBYTES || memcmp (bytes, "GZIDX", 5) != 0)
    return fail ("not an index of indexed_gzip");
  struct gzidx gzidx = {
    .version = bytes[5], .unpacked_nbytes = rd_get_little (bytes + 15, 8),
    .window_nbytes = (uint32_t) rd_get_little (bytes + 27, 4),
    .n = (uint32_t) rd_get_little (bytes + 31, 4),
  };
  gzidx.point_nbytes = gzidx.version > 0 ? 18 : 17;
  if (gzidx.version > 1)
    return fail ("a version of .gzidx that is not known");
  if (rd_get_little (bytes + 7, 8) != gzip_nbytes)
    return fail ("of a file of another size");
  uint64_t room = nbytes - GZIDX_HEADER_NBYTES, nwindows = 0, windows;
  if (gzidx.window_nbytes < RD_POINT_HISTORY_NBYTES
      || gzidx.n > room / gzidx.point_nbytes)
    return fail ("its size is wrong");
  room -= gzidx.n * gzidx.point_nbytes;
  struct rd_point before;
  bool has_window, in_use;
  for (uint32_t i = 0; i < gzidx.n; i++) {
    struct rd_point point = get_gzidx_point (&gzidx, bytes, i, &has_window,
                                             &in_use);
    if (in_use && !is_possible (&point, i > 0 ? &before : NULL, gzip_nbytes))
      return fail ("a point that cannot be");
    nwindows += has_window;
    before = point;
  }
  if (rd_mul_overflows (nwindows, gzidx.window_nbytes, &windows)
      || windows != room)
    return fail ("its size is wrong");
  const unsigned char *window = bytes + nbytes - windows;
  for (uint32_t i = 0; i < gzidx.n; i++) {
    struct rd_point point = get_gzidx_point (&gzidx, bytes, i, &has_window,
                                             &in_use);
    const unsigned char *history = window + gzidx.window_nbytes
                                   - RD_POINT_HISTORY_NBYTES;
    window += has_window ? gzidx.window_nbytes : 0;
    if (in_use && rd_points_want (points, point.output)
        && (!has_window
            || rd_point_copy (&point, history, RD_POINT_HISTORY_NBYTES)))
      rd_points_add (points, &point);
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Names and files
 *----------------------------------------------------------------------*/

/* Makes the name of a file of points: FILE with another suffix in place of the
 * last ncut bytes. */
static char *
name_beside (const char *file, size_t ncut, const char *suffix)
{
  size_t n = strlen (file) - ncut, m = strlen (suffix) + 1;
  char *name = rd_malloc (n + m);
  if (!name)
    return NULL;
  memcpy (name, file, n);
  memcpy (name + n, suffix, m);
  return name;
}

/* Makes the name in the folder, where files are known by their numbers. */
static char *
name_in_folder (const char *folder, const struct rd_points_key *key)
{
  char suffix[48];
  snprintf (suffix, sizeof suffix, "/%" PRIx64 "-%" PRIx64 ".points",
            key->device, key->inode);
  return name_beside (folder, 0, suffix);
}

/* Reads a whole file of at most most_nbytes that is not older than mtime_ns. */
static enum radio_status
read_file (const char *name, uint64_t most_nbytes, uint64_t mtime_ns,
           struct rd_buffer *out)
{
  struct rd_input *input RD_CLEANUP (rd_cleanup_input) = NULL;
  RD_TRY (rd_input_open (name, &input));
  const struct rd_file_identity *identity = rd_input_identity (input);
  if (rd_input_is_gzip (input) || identity->nbytes > most_nbytes)
    return fail ("too large");
  if (identity->mtime_ns < mtime_ns)
    return fail ("older than its file");
  RD_TRY (rd_buffer_reserve (out, (size_t) identity->nbytes));
  return rd_input_read (input, out->data, (size_t) identity->nbytes,
                        &out->nbytes);
}

static bool
find_own (char *name, const struct rd_index_place *place,
          const struct rd_points_key *key, struct rd_points *points)
{
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  return name
         && read_file (name, place->most_nbytes, 0, &bytes) == RADIO_OK
         && rd_index_parse (bytes.data, bytes.nbytes, key, points)
            == RADIO_OK;
}

static bool
find_gzidx (char *name, const struct rd_index_place *place,
            const struct rd_points_key *key, struct rd_points *points)
{
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  return name
         && read_file (name, rd_mul_sat (place->most_nbytes, 2), key->mtime_ns,
                       &bytes) == RADIO_OK
         && rd_gzidx_parse (bytes.data, bytes.nbytes, key->nbytes, points)
            == RADIO_OK;
}

void
rd_index_find (const struct rd_index_place *place,
               const struct rd_points_key *key, struct rd_points *points,
               struct rd_points *hints)
{
  RD_SCOPE ("find points", RD_IN_METADATA);
  size_t ncut = rd_ends_with (place->file, ".gz") ? 3 : 0;
  RD_FREE char *beside = name_beside (place->file, 0, ".points");
  RD_FREE char *apart = place->folder ? name_in_folder (place->folder, key)
                                      : NULL;
  RD_FREE char *gzidx = name_beside (place->file, 0, ".gzidx");
  RD_FREE char *shorter = name_beside (place->file, ncut, ".gzidx");
  if (find_own (beside, place, key, points)
      || find_own (apart, place, key, points))
    rd_points_mark_saved (points);
  else if (!find_gzidx (gzidx, place, key, hints) && ncut > 0)
    (void) find_gzidx (shorter, place, key, hints);
}

/* Refuses to replace anything but a file of points: a link, or a file that has
 * that name by chance. */
static enum radio_status
check_name (const char *name)
{
  struct stat st;
  struct rd_input *input RD_CLEANUP (rd_cleanup_input) = NULL;
  unsigned char start[sizeof magic];
  size_t got;
  if (lstat (name, &st) != 0 || (S_ISREG (st.st_mode) && st.st_size == 0))
    return RADIO_OK;
  if (S_ISREG (st.st_mode)) {
    RD_TRY (rd_input_open (name, &input));
    RD_TRY (rd_input_read (input, start, sizeof start, &got));
    if (got == sizeof start && memcmp (start, magic, sizeof magic) == 0)
      return RADIO_OK;
  }
  return rd_fail (RADIO_ERROR_EXISTS, "%s: exists, and is not a file of points",
                  name);
}

static enum radio_status
write_index (const char *name, const struct rd_buffer *bytes)
{
  struct rd_whole_file *whole RD_CLEANUP (rd_cleanup_whole_file) = NULL;
  if (!name)
    return rd_fail_memory (0);
  RD_TRY (check_name (name));
  RD_TRY (rd_whole_file_open (name, true, 0666, &whole));
  RD_TRY (rd_whole_file_write (whole, bytes->data, bytes->nbytes));
  RD_COUNT (written, bytes->nbytes);
  return rd_whole_file_commit (RD_STEAL (whole), NULL, NULL);
}

enum radio_status
rd_index_keep (const struct rd_index_place *place,
               const struct rd_points_key *key, struct rd_points *points)
{
  RD_SCOPE_BLOCKING ("keep points", RD_IN_DISK);
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  RD_FREE char *beside = name_beside (place->file, 0, ".points");
  RD_TRY (rd_index_pack (key, points, &bytes));
  enum radio_status status = write_index (beside, &bytes);
  if (status != RADIO_OK && place->folder) {
    struct rd_io *folder;
    RD_TRY (rd_io_posix_open (place->folder, true, &folder));
    rd_io_close (folder);
    RD_FREE char *apart = name_in_folder (place->folder, key);
    status = write_index (apart, &bytes);
  }
  return status;
}
