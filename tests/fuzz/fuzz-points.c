/* SPDX-License-Identifier: MIT */
/* Hostile files of points of entry.  The first byte selects radio's format,
 * whose checksum is corrected, or indexed_gzip's.  Accepted points are in order
 * and within the gzip file, and can be written and read again.  A third kind is
 * a member's header that may have its length. */
#include <config.h>

#include "src/base/crc32c.h"
#include "src/nifti/gzip.h"
#include "src/volume/files/index-file.h"
#include "tests/fuzz/fuzz.h"

static const struct rd_points_key key = {
  .nbytes = 100000, .mtime_ns = 5, .head_crc32c = 6, .tail_crc32c = 7,
};

struct seen {
  size_t n;
  struct rd_point before;
};

static enum radio_status
check_point (const struct rd_point *point, void *user_data)
{
  static unsigned char history[RD_POINT_HISTORY_NBYTES];
  struct seen *seen = user_data;
  FUZZ_CHECK (point->bit < 8 && point->input < key.nbytes);
  FUZZ_CHECK (point->history_nbytes <= sizeof history);
  FUZZ_CHECK (seen->n++ == 0 || point->output > seen->before.output);
  if (rd_point_unpack (point, point->packed, history) == RADIO_OK)
    FUZZ_CHECK (point->history_nbytes > 0 || !point->packed);
  seen->before = *point;
  return RADIO_OK;
}

static struct rd_points *
open_points (struct rd_points_cache *cache)
{
  struct rd_points *points;
  FUZZ_CHECK (rd_points_open (cache, NULL, 1, &points) == RADIO_OK);
  return points;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_points_cache *cache;
  struct seen seen = { 0 }, again = { 0 };
  enum radio_status status;
  if (nbytes < 1)
    return 0;
  if (data[0] % 3 == 2) {
    /* Any size that 32 bits say, besides a header and a trailer. */
    FUZZ_CHECK (rd_gzip_member_nbytes (data + 1, nbytes - 1)
                <= UINT32_MAX + (uint64_t) nbytes + 10);
    return 0;
  }
  FUZZ_CHECK (rd_buffer_append (&bytes, data + 1, nbytes - 1) == RADIO_OK);
  FUZZ_CHECK (rd_points_cache_open (1 << 24, &cache) == RADIO_OK);
  struct rd_points *points = open_points (cache);
  if (data[0] % 3 == 0) {
    if (bytes.nbytes >= 4) {
      uint32_t crc = rd_crc32c (0, bytes.data, bytes.nbytes - 4);
      for (unsigned i = 0; i < 4; i++)
        bytes.data[bytes.nbytes - 4 + i] = (unsigned char) (crc >> 8 * i);
    }
    status = rd_index_parse (bytes.data, bytes.nbytes, &key, points);
  } else
    status = rd_gzidx_parse (bytes.data, bytes.nbytes, key.nbytes, points);
  FUZZ_CHECK (rd_points_each (points, check_point, &seen) == RADIO_OK);
  FUZZ_CHECK (status == RADIO_OK || seen.n == 0);
  if (seen.n > 0) {
    struct rd_points *second = open_points (cache);
    FUZZ_CHECK (rd_index_pack (&key, points, &bytes) == RADIO_OK);
    FUZZ_CHECK (rd_index_parse (bytes.data, bytes.nbytes, &key, second)
                == RADIO_OK);
    FUZZ_CHECK (rd_points_each (second, check_point, &again) == RADIO_OK);
    FUZZ_CHECK (again.n == seen.n);
    rd_points_release (second);
  }
  rd_points_release (points);
  rd_points_cache_close (cache);
  return 0;
}

static void
put (unsigned char **at, uint64_t number, unsigned nbytes)
{
  for (unsigned i = 0; i < nbytes; i++)
    *(*at)++ = (unsigned char) (number >> 8 * i);
}

/* Own ones of 0 to 3 points, then two of indexed_gzip, of version 0 and 1, and
 * the headers of pgzip, mgzip (with a name) and BGZF. */
size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  static const unsigned char history[RD_POINT_HISTORY_NBYTES] = "history";
  unsigned char *at = out;
  FUZZ_CHECK (room > 4 * sizeof history);
  if (i < 4) {
    struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
    struct rd_points_cache *cache;
    FUZZ_CHECK (rd_points_cache_open (1 << 24, &cache) == RADIO_OK);
    struct rd_points *points = open_points (cache);
    for (unsigned k = 0; k < i; k++) {
      struct rd_point point = {
        .output = 1000 * (k + 1), .input = 300 * (k + 1), .bit = 3 * k % 8,
        .is_member = k == 0,
      };
      FUZZ_CHECK (k == 0 || rd_point_pack (&point, history, 100 * k));
      rd_points_add (points, &point);
    }
    FUZZ_CHECK (rd_index_pack (&key, points, &bytes) == RADIO_OK);
    rd_points_release (points);
    rd_points_cache_close (cache);
    out[0] = 0;
    memcpy (out + 1, bytes.data, bytes.nbytes);
    return bytes.nbytes + 1;
  }
  if (i > 8)
    return 0;
  if (i > 5) {
    static const char *const headers[] = {
      "\2\x1f\x8b\10\4\0\0\0\0\0\xff\10\0IG\4\0\0\1\0\0",
      "\2\x1f\x8b\10\14\0\0\0\0\0\xff\10\0MZ\4\0\0\1\0\0name\0",
      "\2\x1f\x8b\10\4\0\0\0\0\0\xff\6\0BC\2\0\33\0",
    };
    static const size_t sizes[] = { 21, 26, 19 };
    memcpy (out, headers[i - 6], sizes[i - 6]);
    return sizes[i - 6];
  }
  *at++ = 1;
  memcpy (at, "GZIDX", 5);
  at += 5;
  put (&at, i - 4, 1);
  put (&at, 0, 1);
  put (&at, key.nbytes, 8);
  put (&at, 50000, 8);
  put (&at, 40000, 4);
  put (&at, sizeof history, 4);
  put (&at, 3, 4);
  for (unsigned k = 0; k < 3; k++) {
    put (&at, 10 + 20000 * k, 8);
    put (&at, 40000 * k, 8);
    put (&at, k, 1);
    if (i == 5)
      put (&at, k > 0, 1);
  }
  for (unsigned k = 0; k < 2; k++) {
    memcpy (at, history, sizeof history);
    at += sizeof history;
  }
  return (size_t) (at - out);
}
