/* SPDX-License-Identifier: MIT */
/* Writing blocks.  What is alike stands together and only differences are
 * kept, so that deflate finds little left to say: 5 to 9 bytes a span. */
#include <config.h>

#include <stdlib.h>

#include "src/base/base64.h"
#include "src/base/checked.h"
#include "src/base/deflate.h"
#include "profiler/export/json.h"

/* A million spans of random trees take some 0.2 s; level 9 takes three times
 * as long to save 1 %. */
#define LEVEL 6

struct block {
  struct rd_buffer columns;
  struct rd_buffer packed;
  struct rd_buffer text;
  size_t count;
  const char *encoding;
};

static void
free_block (struct block *block)
{
  rd_buffer_free (&block->columns);
  rd_buffer_free (&block->packed);
  rd_buffer_free (&block->text);
}

#define BLOCK_SCOPE RD_CLEANUP (free_block)

/* Room for one more column. */
static enum radio_status
begin_column (struct block *block)
{
  uint64_t most, all;
  if (rd_mul_overflows (block->count, RD_VARINT_MAX_NBYTES, &most)
      || rd_add_overflows (most, block->columns.nbytes, &all)
      || all > SIZE_MAX / 2)
    return rd_fail_memory (SIZE_MAX);
  return rd_buffer_reserve (&block->columns, (size_t) all);
}

static void
put (struct block *block, uint64_t value)
{
  unsigned char *p = block->columns.data + block->columns.nbytes;
  for (; value >= 0x80; value >>= 7)
    *p++ = (unsigned char) (value | 0x80);
  *p++ = (unsigned char) value;
  block->columns.nbytes = (size_t) (p - block->columns.data);
}

/*------------------------------------------------------------------------
 * The columns
 *----------------------------------------------------------------------*/

/* A number of a span, given the span before in the same lane (zeros for the
 * first one). */
typedef uint64_t span_number_fn (const struct rd_span *span,
                                 const struct rd_span *before);

static uint64_t
begin_of (const struct rd_span *span, const struct rd_span *before)
{
  return span->begin_ns - before->begin_ns;
}

static uint64_t
duration_of (const struct rd_span *span, const struct rd_span *before)
{
  (void) before;
  return span->duration_ns;
}

static uint64_t
queue_of (const struct rd_span *span, const struct rd_span *before)
{
  (void) before;
  return span->begin_ns - span->submitted_ns;
}

static uint64_t
wait_of (const struct rd_span *span, const struct rd_span *before)
{
  (void) before;
  return span->wait_ns;
}

static uint64_t
id_of (const struct rd_span *span, const struct rd_span *before)
{
  return rd_zigzag ((uint64_t) span->id - before->id);
}

static uint64_t
parent_of (const struct rd_span *span, const struct rd_span *before)
{
  (void) before;
  return span->parent == 0 ? 0
                           : rd_zigzag ((uint64_t) span->id - span->parent);
}

static uint64_t
node_of (const struct rd_span *span, const struct rd_span *before)
{
  (void) before;
  return span->node;
}

static uint64_t
flags_of (const struct rd_span *span, const struct rd_span *before)
{
  (void) before;
  return span->flags;
}

static uint64_t
nbytes_of (const struct rd_span *span, const struct rd_span *before)
{
  (void) before;
  return span->nbytes;
}

static span_number_fn *const span_numbers[RD_SPAN_COLUMNS] = {
  begin_of, duration_of, queue_of, wait_of, id_of, parent_of, node_of,
  flags_of, nbytes_of,
};

static enum radio_status
put_spans (struct block *block, const struct radio_profile *profile)
{
  static const struct rd_span none;
  block->count = profile->spans.n;
  for (size_t column = 0; column < RD_SPAN_COLUMNS; column++) {
    const struct rd_span *span = profile->spans.at;
    RD_TRY (begin_column (block));
    for (size_t i = 0; i < block->count; i++, span++) {
      bool is_first = i == 0 || span->lane != span[-1].lane;
      put (block, span_numbers[column] (span, is_first ? &none : span - 1));
    }
  }
  return RADIO_OK;
}

static enum radio_status
put_samples (struct block *block, const struct radio_profile *profile)
{
  const struct rd_sample *samples = profile->samples.at;
  block->count = profile->samples.n;
  RD_TRY (begin_column (block));
  for (size_t i = 0; i < block->count; i++)
    put (block, samples[i].time_ns - (i ? samples[i - 1].time_ns : 0));
  RD_TRY (begin_column (block));
  for (size_t i = 0; i < block->count; i++)
    put (block, samples[i].gauge);
  RD_TRY (begin_column (block));

  /* The values: each less the one before of its gauge. */
  RD_FREE_PLAIN int64_t *latest
    = calloc (profile->gauges.n + 1, sizeof *latest);
  if (latest == NULL)
    return rd_fail_memory (profile->gauges.n * sizeof *latest);
  for (size_t i = 0; i < block->count; i++) {
    const struct rd_sample *sample = &profile->samples.at[i];
    put (block, rd_zigzag ((uint64_t) sample->value
                           - (uint64_t) latest[sample->gauge]));
    latest[sample->gauge] = sample->value;
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Tiles: rows for the spans that are about one
 *----------------------------------------------------------------------*/

/* A number of span `at', given the span of the row before; SIZE_MAX: this is
 * the first row. */
typedef uint64_t tile_number_fn (const struct rd_span *spans, size_t at,
                                 size_t before);

static uint64_t
span_of_tile (const struct rd_span *spans, size_t at, size_t before)
{
  (void) spans;
  return at - before - 1;
}

static uint64_t
tile_of (const struct rd_span *spans, size_t at, size_t before)
{
  uint64_t last = before == SIZE_MAX ? 1 : spans[before].tile;
  return rd_zigzag (spans[at].tile - last);
}

static uint64_t
stored_of (const struct rd_span *spans, size_t at, size_t before)
{
  (void) before;
  return spans[at].stored_nbytes;
}

static enum radio_status
put_tiles (struct block *block, const struct radio_profile *profile)
{
  static tile_number_fn *const numbers[RD_TILE_COLUMNS] = {
    span_of_tile, tile_of, stored_of,
  };
  const struct rd_span *spans = profile->spans.at;
  for (size_t i = 0; i < profile->spans.n; i++)
    block->count += spans[i].tile != 0;
  for (size_t column = 0; column < RD_TILE_COLUMNS; column++) {
    size_t before = SIZE_MAX;
    RD_TRY (begin_column (block));
    for (size_t i = 0; i < profile->spans.n; i++)
      if (spans[i].tile != 0) {
        put (block, numbers[column] (spans, i, before));
        before = i;
      }
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The block
 *----------------------------------------------------------------------*/

static enum radio_status
encode (struct block *block, bool plain)
{
  struct rd_buffer *bytes = &block->columns;
  block->encoding = "none";
  if (!plain && block->count > 0) {
    RD_TRY (rd_deflate (bytes->data, bytes->nbytes, LEVEL,
                        &block->packed));
    if (block->packed.nbytes > 0
        && rd_block_is_honest (bytes->nbytes, block->packed.nbytes)) {
      block->encoding = "deflate";
      bytes = &block->packed;
    }
  }
  return rd_base64_encode (bytes->data, bytes->nbytes, &block->text);
}

static void
write_block (struct rd_writer *writer, const struct block *block)
{
  rd_write_text (writer, "{\n\"count\": ");
  rd_write_u64 (writer, block->count);
  rd_write_text (writer, ",\n\"encoding\": \"");
  rd_write_text (writer, block->encoding);
  rd_write_text (writer, "\",\n\"nbytes\": ");
  rd_write_u64 (writer, block->columns.nbytes);
  rd_write_text (writer, ",\n\"data\": \"");
  rd_write_bytes (writer, block->text.data, block->text.nbytes);
  rd_write_text (writer, "\"\n}");
}

typedef enum radio_status put_fn (struct block *block,
                                  const struct radio_profile *profile);

static void
write_columns (struct rd_writer *writer, const struct radio_profile *profile,
               bool plain, put_fn *put_columns)
{
  BLOCK_SCOPE struct block block = { 0 };
  enum radio_status status = put_columns (&block, profile);
  if (status == RADIO_OK)
    status = encode (&block, plain);
  if (status == RADIO_OK)
    write_block (writer, &block);
  else if (writer->status == RADIO_OK)
    writer->status = status;
}

void
rd_write_spans (struct rd_writer *writer, const struct radio_profile *profile,
                bool plain)
{
  write_columns (writer, profile, plain, put_spans);
}

void
rd_write_samples (struct rd_writer *writer,
                  const struct radio_profile *profile, bool plain)
{
  write_columns (writer, profile, plain, put_samples);
}

void
rd_write_tiles (struct rd_writer *writer, const struct radio_profile *profile,
                bool plain)
{
  write_columns (writer, profile, plain, put_tiles);
}
