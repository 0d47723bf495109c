/* SPDX-License-Identifier: MIT */
/* gzip by ISA-L's streaming deflate. */
#include <config.h>

#include <stdlib.h>

#include <isa-l/igzip_lib.h>

#include "profiler/base/alloc.h"
#include "profiler/base/error.h"
#include "src/nifti/gzip.h"

/* Its best level, close to zlib's lower ones in size and several times as
 * fast. */
#define LEVEL 3
#define LEVEL_NBYTES ISAL_DEF_LVL3_DEFAULT

#define OUT_NBYTES ((size_t) 256 << 10)

/* ISA-L counts input in 32 bits. */
#define IN_MAX_NBYTES ((size_t) 1 << 30)

struct rd_gzip {
  struct isal_zstream stream;
  rd_gzip_sink_fn *sink;
  void *user_data;
  unsigned char *level_room;
  unsigned char *out;
};

enum radio_status
rd_gzip_open (rd_gzip_sink_fn *sink, void *user_data,
              struct rd_gzip **result)
{
  struct rd_gzip *gzip = rd_calloc (1, sizeof *gzip);
  if (gzip == NULL)
    return rd_fail_memory (sizeof *gzip);
  gzip->sink = sink;
  gzip->user_data = user_data;
  gzip->level_room = rd_malloc (LEVEL_NBYTES);
  gzip->out = rd_malloc (OUT_NBYTES);
  if (gzip->level_room == NULL || gzip->out == NULL) {
    rd_gzip_close (gzip);
    return rd_fail_memory (LEVEL_NBYTES + OUT_NBYTES);
  }
  isal_deflate_init (&gzip->stream);
  gzip->stream.level = LEVEL;
  gzip->stream.level_buf = gzip->level_room;
  gzip->stream.level_buf_size = LEVEL_NBYTES;
  gzip->stream.gzip_flag = IGZIP_GZIP;
  *result = gzip;
  return RADIO_OK;
}

/* Deflate until the input is used up, and at the end until the trailer is
 * out. */
static enum radio_status
pump (struct rd_gzip *gzip, bool end)
{
  struct isal_zstream *stream = &gzip->stream;
  stream->end_of_stream = end;
  do {
    stream->next_out = gzip->out;
    stream->avail_out = OUT_NBYTES;
    int code = isal_deflate (stream);
    if (code != COMP_OK)
      return rd_fail (RADIO_ERROR_ARGUMENT, "deflate failed with code %d",
                      code);
    size_t n = OUT_NBYTES - stream->avail_out;
    if (n > 0)
      RD_TRY (gzip->sink (gzip->user_data, gzip->out, n));
  } while (end ? stream->internal_state.state != ZSTATE_END
               : stream->avail_in > 0 || stream->avail_out == 0);
  return RADIO_OK;
}

enum radio_status
rd_gzip_write (struct rd_gzip *gzip, const void *data, size_t nbytes)
{
  const unsigned char *p = data;
  while (nbytes > 0) {
    size_t n = nbytes < IN_MAX_NBYTES ? nbytes : IN_MAX_NBYTES;
    /* ISA-L only reads what next_in points to. */
    gzip->stream.next_in = (unsigned char *) (uintptr_t) p;
    gzip->stream.avail_in = (uint32_t) n;
    RD_TRY (pump (gzip, false));
    p += n;
    nbytes -= n;
  }
  return RADIO_OK;
}

enum radio_status
rd_gzip_finish (struct rd_gzip *gzip)
{
  gzip->stream.avail_in = 0;
  return pump (gzip, true);
}

void
rd_gzip_close (struct rd_gzip *gzip)
{
  if (gzip == NULL)
    return;
  rd_free (gzip->out);
  rd_free (gzip->level_room);
  rd_free (gzip);
}
