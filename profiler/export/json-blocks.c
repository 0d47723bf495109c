/* SPDX-License-Identifier: MIT */
/* Writing blocks.  Similar values are adjacent and stored as differences, which
 * deflate compresses well: 5 to 9 bytes a span. */
#include <config.h>

#include "src/base/alloc.h"
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

/* A column's number of a span, given the span before in the same lane (zeros
 * for the first one). */
static uint64_t
span_number (size_t column, const struct rd_span *span,
             const struct rd_span *before)
{
  switch (column) {
  case 0: return span->begin_ns - before->begin_ns;
  case 1: return span->duration_ns;
  case 2: return span->begin_ns - span->submitted_ns;
  case 3: return span->wait_ns;
  case 4: return rd_zigzag ((uint64_t) span->id - before->id);
  case 5: return span->parent == 0
                   ? 0 : rd_zigzag ((uint64_t) span->id - span->parent);
  case 6: return span->node;
  case 7: return span->flags;
  }
  return span->nbytes;
}

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
      put (block, span_number (column, span, is_first ? &none : span - 1));
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
  RD_FREE int64_t *latest
    = rd_calloc (profile->gauges.n + 1, sizeof *latest);
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

/* Rows for the spans that are about a tile: the span, the tile, and how much
 * of it was stored. */
static enum radio_status
put_tiles (struct block *block, const struct radio_profile *profile)
{
  const struct rd_span *spans = profile->spans.at;
  for (size_t i = 0; i < profile->spans.n; i++)
    block->count += spans[i].tile != 0;
  for (size_t column = 0; column < RD_TILE_COLUMNS; column++) {
    size_t next = 0;
    uint64_t last_tile = 1;
    RD_TRY (begin_column (block));
    for (size_t i = 0; i < profile->spans.n; i++)
      if (spans[i].tile != 0) {
        put (block, column == 0   ? i - next
                    : column == 1 ? rd_zigzag (spans[i].tile - last_tile)
                                  : spans[i].stored_nbytes);
        next = i + 1;
        last_tile = spans[i].tile;
      }
  }
  return RADIO_OK;
}

/* Rows for the spans that had no CPU for a time. */
static enum radio_status
put_starved (struct block *block, const struct radio_profile *profile)
{
  const struct rd_span *spans = profile->spans.at;
  for (size_t i = 0; i < profile->spans.n; i++)
    block->count += spans[i].starved_ns != 0;
  for (size_t column = 0; column < RD_STARVED_COLUMNS; column++) {
    size_t next = 0;
    RD_TRY (begin_column (block));
    for (size_t i = 0; i < profile->spans.n; i++)
      if (spans[i].starved_ns != 0) {
        put (block, column == 0 ? i - next : spans[i].starved_ns);
        next = i + 1;
      }
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The block
 *----------------------------------------------------------------------*/

static enum radio_status
write_block (struct rd_writer *writer, const struct radio_profile *profile,
             enum rd_block_kind kind, bool plain)
{
  BLOCK_SCOPE struct block block = { 0 };
  RD_TRY (kind == RD_BLOCK_SPANS     ? put_spans (&block, profile)
          : kind == RD_BLOCK_SAMPLES ? put_samples (&block, profile)
          : kind == RD_BLOCK_TILES   ? put_tiles (&block, profile)
                                     : put_starved (&block, profile));
  struct rd_buffer *bytes = &block.columns;
  const char *encoding = "none";
  if (!plain && block.count > 0) {
    RD_TRY (rd_deflate (bytes->data, bytes->nbytes, LEVEL, &block.packed));
    if (block.packed.nbytes > 0
        && rd_block_is_honest (bytes->nbytes, block.packed.nbytes)) {
      encoding = "deflate";
      bytes = &block.packed;
    }
  }
  RD_TRY (rd_base64_encode (bytes->data, bytes->nbytes, &block.text));

  rd_write_text (writer, "{\n\"count\": ");
  rd_write_u64 (writer, block.count);
  rd_write_format (writer, ",\n\"encoding\": \"%s\",\n\"nbytes\": ",
                   encoding);
  rd_write_u64 (writer, block.columns.nbytes);
  rd_write_text (writer, ",\n\"data\": \"");
  rd_write_bytes (writer, block.text.data, block.text.nbytes);
  rd_write_text (writer, "\"\n}");
  return RADIO_OK;
}

void
rd_write_block (struct rd_writer *writer, const struct radio_profile *profile,
                enum rd_block_kind kind, bool plain)
{
  enum radio_status status = write_block (writer, profile, kind, plain);
  if (writer->status == RADIO_OK)
    writer->status = status;
}

