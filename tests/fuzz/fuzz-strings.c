/* SPDX-License-Identifier: MIT */
/* Hostile chunks of strings.  The first byte of an input chooses the codecs
 * after vlen-utf8, the rest is the chunk.  Decoded strings are UTF-8 within the
 * decoded bytes, and are the same after being encoded again. */
#include <config.h>

#include <string.h>

#include "tests/fuzz/fuzz.h"

#include "src/base/text.h"
#include "src/codec/chain.h"

enum { KINDS = 5, N = 6, STRINGS_NBYTES = 1 << 16 };

static const struct rd_string fill = { "", 0 };

static const struct rd_chunk chunk = {
  .rank = 2, .shape = { 3, 2 },
  .type = { RADIO_STRING, sizeof (struct rd_string), 1 },
  .fill = &fill, .strings_nbytes = STRINGS_NBYTES,
};

static void
make_chain (struct rd_chain *chain, unsigned kind)
{
  static const enum rd_codec_id last[KINDS] = {
    RD_CODEC_VLEN_UTF8, RD_CODEC_ZSTD, RD_CODEC_GZIP, RD_CODEC_BLOSC,
    RD_CODEC_CRC32C,
  };
  memset (chain, 0, sizeof *chain);
  chain->codecs[chain->n++].id = RD_CODEC_VLEN_UTF8;
  if (kind == 0)
    return;
  struct rd_codec *codec = &chain->codecs[chain->n++];
  codec->id = last[kind];
  if (codec->id == RD_CODEC_ZSTD)
    codec->u.zstd.level = 1;
  if (codec->id == RD_CODEC_BLOSC) {
    memcpy (codec->u.blosc.cname, "lz4", 4);
    codec->u.blosc.clevel = 5;
    codec->u.blosc.typesize = 1;
  }
}

static void
encode (const struct rd_chain *chain, const struct rd_string *strings,
        struct rd_buffer *out)
{
  struct rd_scratch scratch = { 0 };
  FUZZ_CHECK (rd_chain_encode (chain, &chunk, &scratch, strings, out)
              == RADIO_OK);
  rd_scratch_free (&scratch);
}

static void
check_same (const struct rd_string *a, const struct rd_string *b)
{
  for (size_t i = 0; i < N; i++) {
    FUZZ_CHECK (a[i].nbytes == b[i].nbytes);
    FUZZ_CHECK (memcmp (a[i].data, b[i].data, a[i].nbytes) == 0);
    FUZZ_CHECK (rd_utf8_valid_nbytes (a[i].data, a[i].nbytes) == a[i].nbytes);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  struct rd_scratch scratch = { 0 }, again = { 0 };
  struct rd_buffer out = { 0 };
  struct rd_chain chain;
  struct rd_view view, second;
  if (nbytes == 0)
    return 0;
  make_chain (&chain, data[0] % KINDS);
  FUZZ_CHECK (rd_chain_check (&chain, &chunk) == RADIO_OK);
  if (rd_chain_decode (&chain, &chunk, &scratch, data + 1, nbytes - 1, &view)
      == RADIO_OK) {
    struct rd_string strings[N], decoded[N];
    memcpy (strings, view.data, sizeof strings);
    encode (&chain, strings, &out);
    FUZZ_CHECK (rd_chain_decode (&chain, &chunk, &again, out.data, out.nbytes,
                                 &second) == RADIO_OK);
    memcpy (decoded, second.data, sizeof decoded);
    check_same (strings, decoded);
  }
  rd_buffer_free (&out);
  rd_scratch_free (&scratch);
  rd_scratch_free (&again);
  return 0;
}

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  static const struct rd_string strings[N] = {
    { "", 0 }, { "a", 1 }, { "\xc3\xbc", 2 }, { "\xf0\x9f\xa7\xa0 brain", 10 },
    { "nul\0nul", 7 }, { "n/a", 3 },
  };
  struct rd_buffer encoded = { 0 };
  struct rd_chain chain;
  if (i >= KINDS)
    return 0;
  make_chain (&chain, i);
  encode (&chain, strings, &encoded);
  FUZZ_CHECK (encoded.nbytes + 1 <= room);
  out[0] = (unsigned char) i;
  memcpy (out + 1, encoded.data, encoded.nbytes);
  size_t nbytes = encoded.nbytes + 1;
  rd_buffer_free (&encoded);
  return nbytes;
}
