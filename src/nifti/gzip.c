/* SPDX-License-Identifier: MIT */
/* gzip by ISA-L: pieces collected until there is one for each slot, deflated
 * in parallel, and handed on in order.  Data that do not fill a piece are kept
 * for the next call, with the window before them. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "src/base/buffer.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/little.h"
#include "profiler/counters.h"
#include "src/nifti/gzip.h"

#define PIECE_NBYTES RD_GZIP_PIECE_NBYTES
#define WINDOW_NBYTES ((size_t) 32 << 10)

/* Its best level, close to zlib's lower ones in size and several times as
 * fast. */
#define LEVEL 3
#define LEVEL_NBYTES ISAL_DEF_LVL3_DEFAULT

/* Slots for each thread, so that none waits for the slowest piece. */
#define SLOTS_PER_THREAD 4
#define MAX_SLOTS 64

/* Room for a deflated piece, and the step by which it grows. */
#define OUT_NBYTES(piece_nbytes) ((piece_nbytes) + (piece_nbytes) / 8 + 1024)

/* Flags of a member's header. */
enum { FLAG_CRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16 };

/* A piece, and its compressor; made when first used. */
struct slot {
  struct isal_zstream stream;
  unsigned char level_room[LEVEL_NBYTES];
  const unsigned char *window;        /* the data before the piece */
  size_t window_nbytes;
  const unsigned char *in;
  size_t nbytes;
  struct rd_buffer out;
};

/* The header of a member that says how long it is: no name, no time, a system
 * that does not matter, and one extra field, pgzip's IG, whose 4 bytes are the
 * size of the whole member. */
static const unsigned char sized_header[] = {
  0x1f, 0x8b, 8, FLAG_EXTRA, 0, 0, 0, 0, 0, 0xff, 8, 0, 'I', 'G', 4, 0,
  0, 0, 0, 0
};
enum { SIZED_HEADER_NBYTES = sizeof sized_header, TRAILER_NBYTES = 8 };

struct rd_gzip {
  const struct rd_executor *executor;
  rd_gzip_sink_fn *sink;
  void *user_data;
  bool is_split;                      /* each piece is a member */
  size_t piece_nbytes, out_nbytes;
  bool begun;                         /* the first header is out */
  uint32_t crc;
  uint32_t nbytes;                    /* so far, modulo 2^32 as gzip has it */
  unsigned nslots, nused;
  struct slot *slots[MAX_SLOTS];

  /* The last bytes deflated, directly before those that do not fill a piece
   * yet. */
  size_t window_nbytes, pending_nbytes;
  unsigned char room[];               /* WINDOW_NBYTES + piece_nbytes */
};

enum radio_status
rd_gzip_open (const struct rd_executor *executor, size_t member_nbytes,
              rd_gzip_sink_fn *sink, void *user_data,
              struct rd_gzip **result)
{
  size_t piece_nbytes = member_nbytes ? member_nbytes : PIECE_NBYTES;
  size_t nbytes = sizeof (struct rd_gzip) + WINDOW_NBYTES + piece_nbytes;
  struct rd_gzip *gzip = rd_malloc (nbytes);
  if (gzip == NULL)
    return rd_fail_memory (nbytes);
  memset (gzip, 0, sizeof *gzip);
  gzip->is_split = member_nbytes > 0;
  gzip->piece_nbytes = piece_nbytes;
  gzip->out_nbytes = OUT_NBYTES (piece_nbytes);
  gzip->executor = executor;
  gzip->sink = sink;
  gzip->user_data = user_data;
  gzip->nslots = 1;
  if (executor && executor->nthreads > 1) {
    uint64_t n = (uint64_t) executor->nthreads * SLOTS_PER_THREAD;
    n = rd_min_u64 (n, executor->most_nbytes
                        / (sizeof (struct slot) + gzip->out_nbytes));
    gzip->nslots = (unsigned) rd_max_u64 (rd_min_u64 (n, MAX_SLOTS), 1);
  }
  *result = gzip;
  return RADIO_OK;
}

/* Runs until all input is taken and all output had room. */
static enum radio_status
deflate_piece (void *data, uint64_t task)
{
  const struct rd_gzip *gzip = data;
  struct slot *slot = gzip->slots[task];
  struct isal_zstream *stream = &slot->stream;
  RD_SCOPE ("deflate", RD_IN_ENCODE);
  RD_COUNT (encoded, slot->nbytes);
  isal_deflate_init (stream);
  stream->level = LEVEL;
  stream->level_buf = slot->level_room;
  stream->level_buf_size = LEVEL_NBYTES;
  stream->gzip_flag = IGZIP_DEFLATE;
  stream->flush = gzip->is_split ? NO_FLUSH : SYNC_FLUSH;
  stream->end_of_stream = gzip->is_split;
  /* ISA-L only reads these buffers. */
  stream->next_in = (unsigned char *) (uintptr_t) slot->in;
  stream->avail_in = (uint32_t) slot->nbytes;
  unsigned char *window = (unsigned char *) (uintptr_t) slot->window;
  int code = slot->window_nbytes == 0 ? COMP_OK
    : isal_deflate_set_dict (stream, window, (uint32_t) slot->window_nbytes);
  if (code != COMP_OK)
    return rd_fail (RADIO_ERROR_ARGUMENT, "deflate takes no dictionary: code "
                    "%d", code);
  slot->out.nbytes = 0;
  if (gzip->is_split)
    RD_TRY (rd_buffer_append (&slot->out, sized_header, SIZED_HEADER_NBYTES));
  do {
    RD_TRY (rd_buffer_reserve (&slot->out,
                               slot->out.nbytes + gzip->out_nbytes));
    stream->next_out = slot->out.data + slot->out.nbytes;
    stream->avail_out = (uint32_t) gzip->out_nbytes;
    code = isal_deflate (stream);
    if (code != COMP_OK)
      return rd_fail (RADIO_ERROR_ARGUMENT, "deflate failed with code %d",
                      code);
    slot->out.nbytes += gzip->out_nbytes - stream->avail_out;
  } while (stream->avail_in > 0 || stream->avail_out == 0);
  if (!gzip->is_split)
    return RADIO_OK;
  unsigned char trailer[TRAILER_NBYTES];
  rd_put_little (trailer, crc32_gzip_refl (0, slot->in, slot->nbytes), 4);
  rd_put_little (trailer + 4, slot->nbytes, 4);
  RD_TRY (rd_buffer_append (&slot->out, trailer, sizeof trailer));
  rd_put_little (slot->out.data + SIZED_HEADER_NBYTES - 4, slot->out.nbytes,
                 4);
  return RADIO_OK;
}

/* Deflates the slots' pieces, and hands them to the sink. */
static enum radio_status
flush (struct rd_gzip *gzip)
{
  /* No name and no time; deflated on a system that does not matter. */
  static const unsigned char header[] = "\x1f\x8b\b\0\0\0\0\0\0\xff";
  if (!gzip->begun) {
    gzip->begun = true;
    if (!gzip->is_split)
      RD_TRY (gzip->sink (gzip->user_data, header, sizeof header - 1));
  }
  if (gzip->nused > 1)
    RD_TRY (gzip->executor->run (gzip->executor, gzip->nused,
                                 deflate_piece, gzip));
  else if (gzip->nused > 0)
    RD_TRY (deflate_piece (gzip, 0));
  for (unsigned i = 0; i < gzip->nused; i++)
    RD_TRY (gzip->sink (gzip->user_data, gzip->slots[i]->out.data,
                        gzip->slots[i]->out.nbytes));
  gzip->nused = 0;
  return RADIO_OK;
}

static enum radio_status
add_piece (struct rd_gzip *gzip, const unsigned char *in, size_t nbytes,
           const unsigned char *window, size_t window_nbytes)
{
  if (gzip->nused == gzip->nslots)
    RD_TRY (flush (gzip));
  struct slot **slot = &gzip->slots[gzip->nused];
  if (*slot == NULL) {
    *slot = rd_malloc (sizeof **slot);
    if (*slot == NULL)
      return rd_fail_memory (sizeof **slot);
    /* Only the buffer must be empty; each piece sets the rest. */
    (*slot)->out = (struct rd_buffer) { 0 };
  }
  (*slot)->in = in;
  (*slot)->nbytes = nbytes;
  (*slot)->window = window;
  (*slot)->window_nbytes = gzip->is_split ? 0 : window_nbytes;
  gzip->nused++;
  return RADIO_OK;
}

/* Adds the piece that is being filled. */
static enum radio_status
add_pending (struct rd_gzip *gzip)
{
  const unsigned char *in = gzip->room + WINDOW_NBYTES;
  return add_piece (gzip, in, gzip->pending_nbytes, in - gzip->window_nbytes,
                    gzip->window_nbytes);
}

static void
append_pending (struct rd_gzip *gzip, const unsigned char *data,
                size_t nbytes)
{
  memcpy (gzip->room + WINDOW_NBYTES + gzip->pending_nbytes, data, nbytes);
  gzip->pending_nbytes += nbytes;
}

/* Fills the pending piece, adds whole pieces from the caller's memory, and
 * deflates them all; the rest is pending again. */
static enum radio_status
write_pieces (struct rd_gzip *gzip, const unsigned char *data, size_t nbytes)
{
  if (gzip->pending_nbytes > 0) {
    size_t n = gzip->piece_nbytes - gzip->pending_nbytes;
    append_pending (gzip, data, n);
    RD_TRY (add_pending (gzip));
    data += n;
    nbytes -= n;
  }
  /* The pending bytes, or the window, precede the first piece. */
  size_t before = gzip->pending_nbytes > 0 ? WINDOW_NBYTES
                                           : gzip->window_nbytes;
  const unsigned char *window
    = gzip->room + WINDOW_NBYTES + gzip->pending_nbytes - before;
  size_t taken = 0, piece_nbytes = gzip->piece_nbytes;
  for (; nbytes - taken >= piece_nbytes; taken += piece_nbytes) {
    RD_TRY (add_piece (gzip, data + taken, piece_nbytes, window, before));
    window = data + taken + piece_nbytes - WINDOW_NBYTES;
    before = WINDOW_NBYTES;
  }
  RD_TRY (flush (gzip));

  /* Keep the window: the end of the last whole piece. */
  memmove (gzip->room, taken > 0 ? window : gzip->room + piece_nbytes,
           WINDOW_NBYTES);
  gzip->window_nbytes = WINDOW_NBYTES;
  gzip->pending_nbytes = 0;
  append_pending (gzip, data + taken, nbytes - taken);
  return RADIO_OK;
}

enum radio_status
rd_gzip_write (struct rd_gzip *gzip, const void *data, size_t nbytes)
{
  gzip->crc = crc32_gzip_refl (gzip->crc, data, nbytes);
  gzip->nbytes += (uint32_t) nbytes;
  if (nbytes >= gzip->piece_nbytes - gzip->pending_nbytes)
    return write_pieces (gzip, data, nbytes);
  append_pending (gzip, data, nbytes);
  return RADIO_OK;
}

/* Writes an empty last block and the trailer, or the last member. */
enum radio_status
rd_gzip_finish (struct rd_gzip *gzip)
{
  unsigned char end[10] = { 0x03, 0x00 };
  if (gzip->pending_nbytes > 0 || (gzip->is_split && !gzip->begun))
    RD_TRY (add_pending (gzip));
  RD_TRY (flush (gzip));
  gzip->pending_nbytes = 0;
  if (gzip->is_split)
    return RADIO_OK;
  rd_put_little (end + 2, gzip->crc, 4);
  rd_put_little (end + 6, gzip->nbytes, 4);
  return gzip->sink (gzip->user_data, end, sizeof end);
}

void
rd_gzip_close (struct rd_gzip *gzip)
{
  if (gzip == NULL)
    return;
  for (unsigned i = 0; i < gzip->nslots; i++) {
    if (gzip->slots[i])
      rd_buffer_free (&gzip->slots[i]->out);
    rd_free (gzip->slots[i]);
  }
  rd_free (gzip);
}

/*------------------------------------------------------------------------
 * Members that say how long they are
 *----------------------------------------------------------------------*/

/* Returns the length of a member's header, or 0. */
static size_t
header_nbytes (const unsigned char *header, size_t nbytes)
{
  unsigned flags = header[3];
  size_t at = 12 + (header[10] | (size_t) header[11] << 8);
  for (unsigned flag = FLAG_NAME; flag <= FLAG_COMMENT; flag *= 2) {
    const unsigned char *end = NULL;
    if (!(flags & flag))
      continue;
    if (at < nbytes)
      end = memchr (header + at, 0, nbytes - at);
    if (!end)
      return 0;
    at = (size_t) (end - header) + 1;
  }
  return at + (flags & FLAG_CRC ? 2 : 0);
}

uint64_t
rd_gzip_member_nbytes (const unsigned char *header, size_t nbytes)
{
  if (nbytes < 12 || header[0] != 0x1f || header[1] != 0x8b || header[2] != 8
      || !(header[3] & FLAG_EXTRA))
    return 0;
  size_t end = 12 + (size_t) rd_get_little (header + 10, 2);
  for (size_t at = 12; at + 4 <= end && end <= nbytes;) {
    const unsigned char *field = header + at;
    size_t length = (size_t) rd_get_little (field + 2, 2);
    at += 4 + length;
    if (at > end)
      return 0;
    if (length == 2 && memcmp (field, "BC", 2) == 0)
      return rd_get_little (field + 4, 2) + 1;
    if (length != 4)
      continue;
    uint64_t said = rd_get_little (field + 4, 4);
    if (memcmp (field, "IG", 2) == 0)
      return said;
    /* Without the header and the trailer. */
    if (memcmp (field, "MZ", 2) == 0 && header_nbytes (header, nbytes) > 0)
      return header_nbytes (header, nbytes) + said + 8;
  }
  return 0;
}
