/* SPDX-License-Identifier: MIT */
/* How fast a .gz file is inflated and nothing else: the limit of ingest.
 * libdeflate wants whole members, ISA-L streams. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include <isa-l/igzip_lib.h>
#include <libdeflate.h>

#include "tools/bench/limits.h"
#include "tools/progress.h"

/* What ISA-L inflates to at one time: it stays in a processor's cache. */
#define WINDOW_NBYTES (256 << 10)

struct bytes {
  unsigned char *at;          /* allocated */
  size_t n;
};

static void
clear_bytes (struct bytes *bytes)
{
  free (bytes->at);
}

#define CLEAR_BYTES RD_CLEANUP (clear_bytes)

static int
read_open_file (FILE *file, const char *name, struct bytes *bytes)
{
  if (fseek (file, 0, SEEK_END) != 0)
    return rd_error ("%s: %s", name, strerror (errno));
  long n = ftell (file);
  rewind (file);
  if (n <= 0)
    return rd_error ("%s: it is empty", name);
  bytes->n = (size_t) n;
  bytes->at = malloc (bytes->n);
  if (bytes->at == NULL)
    return rd_error_memory ();
  if (fread (bytes->at, 1, bytes->n, file) != bytes->n)
    return rd_error ("%s: it cannot be read", name);
  return RD_EXIT_OK;
}

static int
read_file (const char *name, struct bytes *bytes)
{
  FILE *file = fopen (name, "rbe");
  if (file == NULL)
    return rd_error ("%s: %s", name, strerror (errno));
  int failed = read_open_file (file, name, bytes);
  fclose (file);
  return failed;
}

/* Both return whether the bytes were inflated as a whole. */
static bool
inflate_whole (const struct bytes *in, const struct bytes *out)
{
  struct libdeflate_decompressor *d = libdeflate_alloc_decompressor ();
  size_t from = 0, to = 0;
  bool ok = d != NULL;
  while (ok && from < in->n) {
    size_t taken, given;
    ok = libdeflate_gzip_decompress_ex (d, in->at + from, in->n - from,
                                        out->at + to, out->n - to, &taken,
                                        &given) == LIBDEFLATE_SUCCESS;
    from += ok ? taken : 0;
    to += ok ? given : 0;
  }
  libdeflate_free_decompressor (d);
  return ok && to == out->n;
}

static bool
inflate_stream (const struct bytes *in, const struct bytes *out)
{
  RD_FREE struct inflate_state *state = malloc (sizeof *state);
  uint64_t given = 0;
  if (state == NULL)
    return false;
  isal_inflate_init (state);
  state->crc_flag = ISAL_GZIP;
  state->next_in = in->at;
  state->avail_in = (uint32_t) in->n;
  while (state->block_state != ISAL_BLOCK_FINISH) {
    state->next_out = out->at;
    state->avail_out = WINDOW_NBYTES;
    if (isal_inflate (state) != ISAL_DECOMP_OK
        || state->avail_out == WINDOW_NBYTES)
      break;
    given += WINDOW_NBYTES - state->avail_out;
  }
  return given == out->n;
}

static void
measure (struct rd_limits *limits, const char *name,
         bool inflate (const struct bytes *, const struct bytes *),
         const struct bytes *in, const struct bytes *out)
{
  double start = rd_clock_s ();
  bool ok = inflate (in, out);
  double rate = (double) out->n / (rd_clock_s () - start);
  if (ok && rate > limits->inflate) {
    limits->inflate = rate;
    limits->inflated_by = name;
  }
}

int
rd_limits_inflate (struct rd_limits *limits, const char *file,
                   uint64_t nbytes)
{
  CLEAR_BYTES struct bytes in = { 0 };
  CLEAR_BYTES struct bytes out = { .n = (size_t) nbytes };
  int failed = read_file (file, &in);
  if (failed)
    return failed;
  out.at = malloc (out.n + WINDOW_NBYTES);
  if (out.at == NULL)
    return rd_error_memory ();
  memset (out.at, 1, out.n + WINDOW_NBYTES);
  measure (limits, "libdeflate", inflate_whole, &in, &out);
  if (in.n <= UINT32_MAX)
    measure (limits, "ISA-L", inflate_stream, &in, &out);
  return RD_EXIT_OK;
}
