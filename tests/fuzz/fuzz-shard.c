/* SPDX-License-Identifier: MIT */
/* Hostile shards.  The first byte of an input chooses the codecs, the rest
 * is the shard.  Decoded elements are the same after being encoded again. */
#include <config.h>

#include <string.h>

#include "tests/fuzz/fuzz.h"

#include "src/element/box.h"
#include "src/codec/chain.h"
#include "src/element/copy.h"

enum { KINDS = 32, RANK = 3, SHARD_NBYTES = 8 * 8 * 8 * 2 };

static const int16_t fill = 3;

static struct rd_chain *
new_chain (void)
{
  struct rd_chain *chain = rd_calloc (1, sizeof *chain);
  FUZZ_CHECK (chain != NULL);
  return chain;
}

static struct rd_codec *
add (struct rd_chain *chain, enum rd_codec_id id)
{
  chain->n_array += id == RD_CODEC_TRANSPOSE;
  chain->codecs[chain->n].id = id;
  return &chain->codecs[chain->n++];
}

/* The codecs of the tiles. */
static struct rd_chain *
make_tile_chain (unsigned kind)
{
  struct rd_chain *chain = new_chain ();
  add (chain, RD_CODEC_BYTES)->u.bytes.big_endian = kind & 1;
  if (kind % 4 == 1)
    add (chain, RD_CODEC_CRC32C);
  if (kind % 4 == 2)
    add (chain, RD_CODEC_ZSTD)->u.zstd.level = 1;
  if (kind % 4 == 3) {
    struct rd_codec *codec = add (chain, RD_CODEC_BLOSC);
    memcpy (codec->u.blosc.cname, "lz4", 4);
    codec->u.blosc.clevel = 5;
    codec->u.blosc.shuffle = RD_BLOSC_BITSHUFFLE;
    codec->u.blosc.typesize = 2;
  }
  return chain;
}

static struct rd_chain *
make_chain (unsigned kind, uint64_t size)
{
  if (size == 1 || (size == 2 && !(kind & 16)))
    return make_tile_chain (kind);
  struct rd_chain *chain = new_chain (), *index = new_chain ();
  struct rd_codec *codec = add (chain, RD_CODEC_SHARDING);
  for (size_t i = 0; i < RANK; i++)
    codec->u.sharding.chunk_shape[i] = size / 2;
  codec->u.sharding.inner = make_chain (kind, size / 2);
  codec->u.sharding.index = index;
  codec->u.sharding.index_at_start = kind & 4;
  add (index, RD_CODEC_BYTES)->u.bytes.big_endian = kind & 8;
  if (kind & 2)
    add (index, RD_CODEC_CRC32C);
  if ((kind & 24) == 24)
    add (chain, RD_CODEC_GZIP)->u.gzip.level = 1;
  return chain;
}

static void
make_chunk (struct rd_chunk *chunk)
{
  memset (chunk, 0, sizeof *chunk);
  chunk->rank = RANK;
  chunk->type = rd_type_of (RADIO_INT16);
  chunk->fill = &fill;
  for (size_t i = 0; i < RANK; i++)
    chunk->shape[i] = 8;
}

/* Decode to C order; false when the bytes are refused. */
static bool
decode (const struct rd_chain *chain, const struct rd_chunk *chunk,
        const unsigned char *data, size_t nbytes, unsigned char *elements)
{
  struct rd_scratch scratch = { 0 };
  struct rd_view view;
  bool taken = rd_chain_decode (chain, chunk, &scratch, data, nbytes, &view)
    == RADIO_OK;
  if (taken) {
    struct rd_box_copy copy = { .rank = RANK, .from = view.data,
                                .from_type = chunk->type,
                                .from_swapped = view.swapped, .to = elements };
    memcpy (copy.shape, chunk->shape, sizeof copy.shape);
    memcpy (copy.from_strides, view.strides, sizeof copy.from_strides);
    FUZZ_CHECK (rd_c_strides (RANK, chunk->shape, 2, copy.to_strides));
    FUZZ_CHECK (rd_box_copy_run (&copy) == RADIO_OK);
  }
  rd_scratch_free (&scratch);
  return taken;
}

static void
encode (const struct rd_chain *chain, const struct rd_chunk *chunk,
        const unsigned char *elements, struct rd_buffer *out)
{
  struct rd_scratch scratch = { 0 };
  FUZZ_CHECK (rd_chain_encode (chain, chunk, &scratch, elements, out)
              == RADIO_OK);
  rd_scratch_free (&scratch);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  unsigned char elements[SHARD_NBYTES], again[SHARD_NBYTES];
  struct rd_chunk chunk;
  struct rd_buffer out = { 0 };
  if (nbytes == 0)
    return 0;
  struct rd_chain *chain = make_chain (data[0] % KINDS, 8);
  make_chunk (&chunk);
  FUZZ_CHECK (rd_chain_check (chain, &chunk) == RADIO_OK);
  if (decode (chain, &chunk, data + 1, nbytes - 1, elements)) {
    encode (chain, &chunk, elements, &out);
    FUZZ_CHECK (decode (chain, &chunk, out.data, out.nbytes, again));
    FUZZ_CHECK (memcmp (elements, again, sizeof again) == 0);
  }
  rd_buffer_free (&out);
  rd_chain_free (chain);
  return 0;
}

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  int16_t elements[SHARD_NBYTES / 2];
  struct rd_chunk chunk;
  struct rd_buffer encoded = { 0 };
  if (i >= KINDS)
    return 0;
  make_chunk (&chunk);
  for (size_t k = 0; k < SHARD_NBYTES / 2; k++)
    elements[k] = k % 8 < 4 ? fill : (int16_t) (k / 8);
  struct rd_chain *chain = make_chain (i, 8);
  encode (chain, &chunk, (unsigned char *) elements, &encoded);
  FUZZ_CHECK (encoded.nbytes + 1 <= room);
  out[0] = (unsigned char) i;
  memcpy (out + 1, encoded.data, encoded.nbytes);
  size_t nbytes = encoded.nbytes + 1;
  rd_buffer_free (&encoded);
  rd_chain_free (chain);
  return nbytes;
}
