/* SPDX-License-Identifier: MIT */
/* Reading blocks: base64, inflated, taken apart into numbers.  The columns
 * are walked side by side, a row at a time, so that nothing but the bytes
 * themselves is held. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include <libdeflate.h>

#include "src/base/alloc.h"
#include "src/base/base64.h"
#include "src/base/checked.h"
#include "profiler/export/json.h"
#include "profiler/export/read.h"

/* A column that is being read. */
struct cursor {
  const unsigned char *at, *end;
};

struct block {
  const char *where;
  const char *name;
  struct rd_buffer packed;
  struct rd_buffer bytes;
  size_t count;
  size_t ncolumns;
  struct cursor cursors[RD_SPAN_COLUMNS];
};

static void
free_block (struct block *block)
{
  rd_buffer_free (&block->packed);
  rd_buffer_free (&block->bytes);
}

#define BLOCK_SCOPE RD_CLEANUP (free_block)

static inline void
free_decompressor (struct libdeflate_decompressor *decompressor)
{
  if (decompressor)
    libdeflate_free_decompressor (decompressor);
}

RD_DEFINE_CLEANUP (decompressor, struct libdeflate_decompressor,
                   free_decompressor);

/* The columns' bytes, by the encoding that the block names. */
static enum radio_status
decode (struct block *block, struct json_object *object, size_t nbytes)
{
  const char *encoding, *data;
  RD_TRY (rd_json_string (object, "encoding", block->where, &encoding));
  RD_TRY (rd_json_string (object, "data", block->where, &data));
  enum radio_status status = rd_base64_decode (data, strlen (data),
                                               &block->packed);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s: %s.data", block->where, block->name);
  if (strcmp (encoding, "deflate") == 0) {
    RD_CLEANUP (rd_cleanup_decompressor)
    struct libdeflate_decompressor *decompressor
      = libdeflate_alloc_decompressor ();
    if (decompressor == NULL)
      return rd_fail_memory (1 << 16);
    if (!rd_block_is_honest (nbytes, block->packed.nbytes))
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: %s.nbytes is %zu, which %zu bytes of data do not"
                      " hold", block->where, block->name, nbytes,
                      block->packed.nbytes);
    RD_TRY (rd_buffer_reserve (&block->bytes, nbytes + 1));
    size_t taken, made;
    enum libdeflate_result result = libdeflate_deflate_decompress_ex (
      decompressor, block->packed.data, block->packed.nbytes,
      block->bytes.data, nbytes, &taken, &made);
    if (result != LIBDEFLATE_SUCCESS || taken != block->packed.nbytes
        || made != nbytes)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: %s.data does not inflate to %zu bytes: it is"
                      " damaged", block->where, block->name, nbytes);
    block->bytes.nbytes = made;
    return RADIO_OK;
  }
  if (strcmp (encoding, "none") != 0)
    return rd_json_not (rd_json_member (object, "encoding"), "encoding",
                        "\"deflate\" or \"none\"", block->where);
  block->bytes = block->packed;
  block->packed = (struct rd_buffer) { 0 };
  if (block->bytes.nbytes != nbytes)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: %s.nbytes is %zu, its data has %zu", block->where,
                    block->name, nbytes, block->bytes.nbytes);
  return RADIO_OK;
}

static enum radio_status
get_count (struct json_object *object, const char *member,
           const char *where, size_t *count)
{
  int64_t value;
  RD_TRY (rd_json_int (object, member, where, 0, INT64_MAX, &value));
  *count = (size_t) value;
  return RADIO_OK;
}

/* Make a block ready for being walked; one that is missing is empty. */
static enum radio_status
open_block (struct block *block, struct json_object *document)
{
  static const unsigned char nothing;
  struct json_object *object;
  size_t nbytes;
  for (size_t i = 0; i < block->ncolumns; i++)
    block->cursors[i] = (struct cursor) { &nothing, &nothing };
  if (rd_json_member (document, block->name) == NULL)
    return RADIO_OK;
  RD_TRY (rd_json_object (document, block->name, block->where, &object));
  RD_TRY (get_count (object, "count", block->where, &block->count));
  RD_TRY (get_count (object, "nbytes", block->where, &nbytes));
  RD_TRY (decode (block, object, nbytes));
  if (block->count == 0 && nbytes == 0)
    return RADIO_OK;

  const unsigned char *at = block->bytes.data;
  const unsigned char *end = at + block->bytes.nbytes;
  for (size_t i = 0; i < block->ncolumns; i++) {
    block->cursors[i].at = at;
    /* The first byte after n numbers; NULL when there are fewer. */
    size_t n = block->count;
    for (; n > 0 && at < end; at++)
      n -= *at < 0x80;
    at = n == 0 ? at : NULL;
    if (at == NULL)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: column %zu of %s has fewer than %zu numbers",
                      block->where, i, block->name, block->count);
    block->cursors[i].end = at;
  }
  if (at != end)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: %s has %td bytes after its columns", block->where,
                    block->name, end - at);
  return RADIO_OK;
}

/* The next number of a column, which has at least one more. */
static enum radio_status
next (struct block *block, size_t column, uint64_t *number)
{
  struct cursor *cursor = &block->cursors[column];
  uint64_t value = 0;
  for (unsigned shift = 0; cursor->at < cursor->end; shift += 7) {
    unsigned char byte = *cursor->at++;
    if (shift > 63 || (shift == 63 && byte > 1))
      break;
    value |= (uint64_t) (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *number = value;
      return RADIO_OK;
    }
  }
  return rd_fail (RADIO_ERROR_FORMAT,
                  "%s: a number in column %zu of %s is beyond 64 bits",
                  block->where, column, block->name);
}

static enum radio_status
next_row (struct block *block, uint64_t numbers[RD_SPAN_COLUMNS])
{
  for (size_t i = 0; i < block->ncolumns; i++)
    RD_TRY (next (block, i, &numbers[i]));
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Spans
 *----------------------------------------------------------------------*/

static enum radio_status
fail_span (const struct block *block, const char *what, uint64_t value,
           size_t i)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: the %s of span %zu is %" PRIu64
                  ", which cannot be", block->where, what, i, value);
}

enum radio_status
rd_read_spans (struct json_object *document, const struct rd_lane_row *lanes,
               size_t nlanes, const char *where,
               struct radio_profile *profile)
{
  BLOCK_SCOPE struct block block = {
    .where = where, .name = "spans", .ncolumns = RD_SPAN_COLUMNS
  };
  uint64_t all = 0;
  RD_TRY (open_block (&block, document));
  for (size_t i = 0; i < nlanes; i++)
    if (rd_add_overflows (all, lanes[i].nspans, &all))
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: lanes.span_count is more than 2^64 together",
                      where);
  if (all != block.count)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: spans.count is %zu, its lanes have %" PRIu64, where,
                    block.count, all);
  size_t first = 0;
  for (size_t i = 0; i < nlanes; first += lanes[i++].nspans) {
    /* At first the span before in the lane. */
    struct rd_span span = { .lane = (uint32_t) i };
    for (size_t j = first; j < first + lanes[i].nspans; j++) {
      uint64_t numbers[RD_SPAN_COLUMNS];
      RD_TRY (next_row (&block, numbers));
      uint64_t id = span.id + rd_unzigzag (numbers[4]);
      uint64_t parent = numbers[5] ? id - rd_unzigzag (numbers[5]) : 0;
      if (id == 0 || id > UINT32_MAX)
        return fail_span (&block, "id", id, j);
      if (parent > UINT32_MAX || (numbers[5] && parent == 0))
        return fail_span (&block, "parent", parent, j);
      if (numbers[6] >= UINT32_MAX)
        return fail_span (&block, "node", numbers[6], j);
      if (numbers[7] > (RD_SPAN_OPEN | RD_SPAN_LATE))
        return fail_span (&block, "flags", numbers[7], j);
      if (rd_add_overflows (span.begin_ns, numbers[0], &span.begin_ns))
        return fail_span (&block, "begin", numbers[0], j);
      if (numbers[1] > UINT64_MAX - span.begin_ns)
        return fail_span (&block, "duration", numbers[1], j);
      if (numbers[2] > span.begin_ns)
        return fail_span (&block, "queue", numbers[2], j);
      span.duration_ns = numbers[1];
      span.submitted_ns = span.begin_ns - numbers[2];
      span.wait_ns = numbers[3];
      span.id = (uint32_t) id;
      span.parent = (uint32_t) parent;
      span.node = (uint32_t) numbers[6];
      span.flags = (uint32_t) numbers[7];
      span.nbytes = numbers[8];
      RD_TRY (rd_profile_add_span (profile, &span));
    }
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Samples
 *----------------------------------------------------------------------*/

enum radio_status
rd_read_samples (struct json_object *document, const char *where,
                 struct radio_profile *profile)
{
  BLOCK_SCOPE struct block block = {
    .where = where, .name = "samples", .ncolumns = RD_SAMPLE_COLUMNS
  };
  struct rd_sample sample = { 0 };
  RD_FREE int64_t *latest
    = rd_calloc (profile->gauges.n + 1, sizeof *latest);
  if (latest == NULL)
    return rd_fail_memory (profile->gauges.n * sizeof *latest);
  RD_TRY (open_block (&block, document));
  for (size_t i = 0; i < block.count; i++) {
    uint64_t numbers[RD_SPAN_COLUMNS];
    RD_TRY (next_row (&block, numbers));
    if (numbers[1] >= profile->gauges.n)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: a sample is of gauge %" PRIu64 ", there are %zu",
                      block.where, numbers[1], profile->gauges.n);
    if (rd_add_overflows (sample.time_ns, numbers[0], &sample.time_ns))
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: a sample is %" PRIu64 " ns after the one before,"
                      " beyond 2^64", block.where, numbers[0]);
    sample.gauge = (uint32_t) numbers[1];
    latest[sample.gauge] = (int64_t) ((uint64_t) latest[sample.gauge]
                                       + rd_unzigzag (numbers[2]));
    sample.value = latest[sample.gauge];
    RD_TRY (rd_profile_add_sample (profile, &sample));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Tiles, and times without a CPU, of some of the spans
 *----------------------------------------------------------------------*/

static enum radio_status
fail_row (const struct block *block, size_t row, const char *what,
          uint64_t value)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: row %zu of %s: %s is %" PRIu64
                  ", which cannot be", block->where, row, block->name, what,
                  value);
}

enum radio_status
rd_read_tiles (struct json_object *document, const char *where,
               struct radio_profile *profile)
{
  BLOCK_SCOPE struct block block = {
    .where = where, .name = "tiles", .ncolumns = RD_TILE_COLUMNS
  };
  uint64_t next = 0;          /* the first span that may follow */
  uint64_t tile = 1;          /* 1 + the previous tile */
  RD_TRY (open_block (&block, document));
  for (size_t i = 0; i < block.count; i++) {
    uint64_t numbers[RD_SPAN_COLUMNS];
    RD_TRY (next_row (&block, numbers));
    if (numbers[0] >= profile->spans.n - next)
      return fail_row (&block, i, "span", numbers[0]);
    tile += rd_unzigzag (numbers[1]);
    if (tile == 0)
      return fail_row (&block, i, "tile", UINT64_MAX);
    if (numbers[2] > UINT32_MAX)
      return fail_row (&block, i, "stored", numbers[2]);
    struct rd_span *span = &profile->spans.at[next + numbers[0]];
    span->tile = tile;
    span->stored_nbytes = numbers[2];
    next += numbers[0] + 1;
  }
  return RADIO_OK;
}

enum radio_status
rd_read_starved (struct json_object *document, const char *where,
                 struct radio_profile *profile)
{
  BLOCK_SCOPE struct block block = {
    .where = where, .name = "starved", .ncolumns = RD_STARVED_COLUMNS
  };
  uint64_t next = 0;          /* the first span that may follow */
  RD_TRY (open_block (&block, document));
  for (size_t i = 0; i < block.count; i++) {
    uint64_t numbers[RD_SPAN_COLUMNS];
    RD_TRY (next_row (&block, numbers));
    if (numbers[0] >= profile->spans.n - next)
      return fail_row (&block, i, "span", numbers[0]);
    profile->spans.at[next + numbers[0]].starved_ns = numbers[1];
    next += numbers[0] + 1;
  }
  return RADIO_OK;
}
