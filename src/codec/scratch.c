/* SPDX-License-Identifier: MIT */
/* Allocating, trimming and freeing scratches and their contexts. */
#include <config.h>

#include <libdeflate.h>
#include <lz4.h>
#include <lz4hc.h>
#include <stdlib.h>
#include <zstd.h>

#include "src/base/error.h"
#include "src/codec/scratch.h"

struct rd_codec_contexts *
rd_contexts (struct rd_scratch *scratch)
{
  if (!scratch->contexts) {
    scratch->contexts = rd_calloc (1, sizeof *scratch->contexts);
    if (!scratch->contexts)
      rd_fail_memory (sizeof *scratch->contexts);
  }
  return scratch->contexts;
}

/* Sets the message for NULL: the libraries fail only without memory. */
static void *
check_context (void *context, const char *what)
{
  if (!context)
    rd_fail (RADIO_ERROR_MEMORY, "out of memory: no context for %s", what);
  return context;
}

ZSTD_DCtx *
rd_contexts_zstd_decoder (struct rd_scratch *scratch)
{
  struct rd_codec_contexts *contexts = rd_contexts (scratch);
  if (contexts && !contexts->zstd_decoder)
    contexts->zstd_decoder = check_context (ZSTD_createDCtx (), "zstd");
  return contexts ? contexts->zstd_decoder : NULL;
}

ZSTD_CCtx *
rd_contexts_zstd_encoder (struct rd_scratch *scratch)
{
  struct rd_codec_contexts *contexts = rd_contexts (scratch);
  if (contexts && !contexts->zstd_encoder)
    contexts->zstd_encoder = check_context (ZSTD_createCCtx (), "zstd");
  return contexts ? contexts->zstd_encoder : NULL;
}

void *
rd_contexts_lz4_encoder (struct rd_scratch *scratch, bool hc)
{
  struct rd_codec_contexts *contexts = rd_contexts (scratch);
  if (!contexts)
    return NULL;
  /* These contexts are plain memory. */
  void **encoder = hc ? &contexts->lz4hc_encoder : &contexts->lz4_encoder;
  size_t nbytes = (size_t) (hc ? LZ4_sizeofStateHC () : LZ4_sizeofState ());
  if (*encoder == NULL)
    *encoder = rd_malloc (nbytes);
  if (*encoder == NULL)
    rd_fail_memory (nbytes);
  return *encoder;
}

struct libdeflate_decompressor *
rd_contexts_inflater (struct rd_scratch *scratch)
{
  struct rd_codec_contexts *contexts = rd_contexts (scratch);
  if (contexts && !contexts->inflater)
    contexts->inflater = check_context (libdeflate_alloc_decompressor (),
                                        "gzip");
  return contexts ? contexts->inflater : NULL;
}

struct libdeflate_compressor *
rd_contexts_deflater (struct rd_scratch *scratch, int level)
{
  struct rd_codec_contexts *contexts = rd_contexts (scratch);
  if (!contexts)
    return NULL;
  if (contexts->deflater && contexts->deflater_level != level) {
    libdeflate_free_compressor (contexts->deflater);
    contexts->deflater = NULL;
  }
  if (!contexts->deflater)
    contexts->deflater = check_context (libdeflate_alloc_compressor (level),
                                        "gzip");
  contexts->deflater_level = level;
  return contexts->deflater;
}

void
rd_scratch_free (struct rd_scratch *scratch)
{
  struct rd_codec_contexts *contexts = scratch->contexts;
  rd_buffer_free (&scratch->fetched);
  rd_buffer_free (&scratch->tile);
  rd_buffer_free (&scratch->stages[0]);
  rd_buffer_free (&scratch->stages[1]);
  scratch->contexts = NULL;
  if (!contexts)
    return;
  ZSTD_freeDCtx (contexts->zstd_decoder);
  ZSTD_freeCCtx (contexts->zstd_encoder);
  rd_free (contexts->lz4_encoder);
  rd_free (contexts->lz4hc_encoder);
  if (contexts->inflater)
    libdeflate_free_decompressor (contexts->inflater);
  if (contexts->deflater)
    libdeflate_free_compressor (contexts->deflater);
  rd_buffer_free (&contexts->blocks);
  rd_buffer_free (&contexts->inner);
  rd_scratch_free (&contexts->nested);
  rd_free (contexts);
}

static void
trim_buffer (struct rd_buffer *buffer, size_t *keep_nbytes)
{
  if (buffer->capacity > *keep_nbytes)
    rd_buffer_free (buffer);
  *keep_nbytes -= buffer->capacity;
}

static void
trim_scratch (struct rd_scratch *scratch, size_t *keep_nbytes)
{
  struct rd_codec_contexts *contexts = scratch->contexts;
  trim_buffer (&scratch->stages[0], keep_nbytes);
  trim_buffer (&scratch->stages[1], keep_nbytes);
  trim_buffer (&scratch->tile, keep_nbytes);
  trim_buffer (&scratch->fetched, keep_nbytes);
  if (!contexts)
    return;
  /* A context of zstd keeps the tables of the largest input so far. */
  if (ZSTD_sizeof_CCtx (contexts->zstd_encoder) > *keep_nbytes) {
    ZSTD_freeCCtx (contexts->zstd_encoder);
    contexts->zstd_encoder = NULL;
  }
  *keep_nbytes -= ZSTD_sizeof_CCtx (contexts->zstd_encoder);
  trim_buffer (&contexts->blocks, keep_nbytes);
  trim_buffer (&contexts->inner, keep_nbytes);
  trim_scratch (&contexts->nested, keep_nbytes);
}

void
rd_scratch_trim (struct rd_scratch *scratch, size_t keep_nbytes)
{
  trim_scratch (scratch, &keep_nbytes);
}

size_t
rd_scratch_nbytes (const struct rd_scratch *scratch)
{
  const struct rd_codec_contexts *contexts = scratch->contexts;
  size_t nbytes = scratch->fetched.capacity + scratch->tile.capacity
    + scratch->stages[0].capacity + scratch->stages[1].capacity;
  if (contexts)
    nbytes += contexts->blocks.capacity + contexts->inner.capacity
      + ZSTD_sizeof_CCtx (contexts->zstd_encoder)
      + rd_scratch_nbytes (&contexts->nested);
  return nbytes;
}
