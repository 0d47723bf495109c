/* SPDX-License-Identifier: MIT */
/* The blosc codec: frames of c-blosc 1.  They are read and written by our
 * own code, except for the inner formats that images are not written in:
 * libblosc decodes the two that it alone has, once the header was found
 * right, and encodes those and zlib. */
#include <config.h>

#include <blosc.h>
#include <inttypes.h>
#include <string.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/codec/blosc-frame.h"
#include "src/codec/codec.h"

enum radio_status
rd_blosc_check (const struct rd_codec *codec, uint64_t nbytes)
{
  static const char *const cnames[] = { "blosclz", "lz4", "lz4hc", "snappy",
                                        "zlib", "zstd" };
  const char *cname = codec->u.blosc.cname;
  bool known = false;
  for (size_t i = 0; i < sizeof cnames / sizeof cnames[0]; i++)
    known = known || strcmp (cname, cnames[i]) == 0;
  if (!known)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: cname '%.11s' is not known",
                    cname);
  if (blosc_compname_to_compcode (cname) < 0)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: cname '%s' is not in "
                    "this system's libblosc", cname);
  if (codec->u.blosc.clevel < 0 || codec->u.blosc.clevel > 9)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: clevel %d is not within 0 to "
                    "9", codec->u.blosc.clevel);
  if (codec->u.blosc.typesize < 1 || codec->u.blosc.typesize > 255)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: typesize %zu is not within 1 "
                    "to 255", codec->u.blosc.typesize);
  if (codec->u.blosc.shuffle > RD_BLOSC_BITSHUFFLE)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: shuffle %d is not known",
                    (int) codec->u.blosc.shuffle);
  if (codec->u.blosc.blocksize > BLOSC_MAX_BUFFERSIZE)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: blocksize %zu is too large",
                    codec->u.blosc.blocksize);
  if (nbytes > BLOSC_MAX_BUFFERSIZE)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: a chunk of %" PRIu64
                    " bytes is larger than a frame can be (%d)", nbytes,
                    BLOSC_MAX_BUFFERSIZE);
  return RADIO_OK;
}

#define BLOSC_SITE(name) \
  { name, RD_IN_ENCODE, "blosc", __FILE__, __LINE__, RADIO_SCOPE_WORK }

/* The scope of encoding, by the inner format of the frames. */
static const struct radio_site *
site_of (unsigned format)
{
  static const struct radio_site sites[] = {
    BLOSC_SITE ("blosc blosclz"),
    BLOSC_SITE ("blosc lz4"),
    BLOSC_SITE ("blosc snappy"),
    BLOSC_SITE ("blosc zlib"),
    BLOSC_SITE ("blosc zstd"),
    BLOSC_SITE ("blosc"),
  };
  return &sites[format <= RD_BLOSC_ZSTD ? format : 5];
}

/* The inner format that a compressor makes. */
static unsigned
format_of (const char *cname)
{
  static const char *const names[] = { "blosclz", "lz4", "snappy", "zlib",
                                       "zstd" };
  unsigned n = sizeof names / sizeof names[0], i = 0;
  if (strcmp (cname, "lz4hc") == 0)
    return RD_BLOSC_LZ4;
  while (i < n && strcmp (cname, names[i]) != 0)
    i++;
  return i;
}

static enum radio_status
decode_by_libblosc (const struct rd_blosc_frame *frame, struct rd_bytes in,
                    unsigned char *out)
{
  int n = blosc_decompress_ctx (in.data, out, frame->nbytes, 1);
  if (n < 0 || (size_t) n != frame->nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "blosc: the frame is damaged (%d)",
                    n);
  return RADIO_OK;
}

static enum radio_status
parse_frame (struct rd_bytes in, struct rd_extent extent,
             struct rd_blosc_frame *frame)
{
  RD_TRY (rd_blosc_frame_parse (in, frame));
  return rd_codec_check_length ("blosc", frame->nbytes, extent);
}

static enum radio_status
decode_frame (const struct rd_blosc_frame *frame, struct rd_scratch *scratch,
              struct rd_bytes in, struct rd_buffer *out)
{
  RD_TRY (rd_codec_reserve (out, (uint64_t) frame->nbytes
                            + RD_BLOSC_SLACK_NBYTES));
  if (frame->nbytes == 0)
    return RADIO_OK;
  if (frame->stored)
    memcpy (out->data, in.data + RD_BLOSC_HEADER_NBYTES, frame->nbytes);
  else if (frame->format == RD_BLOSC_BLOSCLZ
           || frame->format == RD_BLOSC_SNAPPY)
    RD_TRY (decode_by_libblosc (frame, in, out->data));
  else
    RD_TRY (rd_blosc_frame_decode (frame, scratch, in, out->data));
  out->nbytes = frame->nbytes;
  return RADIO_OK;
}

enum radio_status
rd_blosc_decode (struct rd_scratch *scratch, struct rd_bytes in,
                 struct rd_extent extent, struct rd_buffer *out)
{
  struct rd_blosc_frame frame;
  RD_TRY (parse_frame (in, extent, &frame));
  return decode_frame (&frame, scratch, in, out);
}

enum radio_status
rd_blosc_decode_shuffled (struct rd_scratch *scratch, struct rd_bytes in,
                          struct rd_extent extent, size_t item_nbytes,
                          struct rd_buffer *out, bool *shuffled,
                          struct rd_shuffled *block)
{
  struct rd_blosc_frame frame;
  RD_TRY (parse_frame (in, extent, &frame));
  *shuffled = rd_blosc_frame_is_shuffled (&frame, item_nbytes);
  if (*shuffled)
    return rd_blosc_frame_decode_shuffled (&frame, scratch, in, block);
  return decode_frame (&frame, scratch, in, out);
}

static enum radio_status
encode_by_libblosc (const struct rd_codec *codec, struct rd_bytes in,
                    struct rd_buffer *out)
{
  size_t room = in.nbytes + BLOSC_MAX_OVERHEAD;
  RD_TRY (rd_codec_reserve (out, room));
  int n = blosc_compress_ctx (codec->u.blosc.clevel,
                              (int) codec->u.blosc.shuffle,
                              codec->u.blosc.typesize, in.nbytes, in.data,
                              out->data, room, codec->u.blosc.cname,
                              codec->u.blosc.blocksize, 1);
  if (n <= 0)
    return rd_fail (RADIO_ERROR_MEMORY, "blosc: cannot encode %zu bytes by "
                    "%s (%d)", in.nbytes, codec->u.blosc.cname, n);
  out->nbytes = (size_t) n;
  return RADIO_OK;
}

enum radio_status
rd_blosc_encode (const struct rd_codec *codec, struct rd_scratch *scratch,
                 struct rd_bytes in, struct rd_buffer *out)
{
  RD_SCOPE_OF (site_of (format_of (codec->u.blosc.cname)));
  if (in.nbytes > BLOSC_MAX_BUFFERSIZE)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "blosc: %zu bytes are more than "
                    "a frame can hold (%d)", in.nbytes,
                    BLOSC_MAX_BUFFERSIZE);
  if (rd_blosc_method (codec->u.blosc.cname) == RD_BLOSC_BY_OTHERS)
    return encode_by_libblosc (codec, in, out);
  return rd_blosc_frame_encode (codec, scratch, in, out);
}
