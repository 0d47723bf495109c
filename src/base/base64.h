/* SPDX-License-Identifier: MIT */
/* Bytes as text. */
#ifndef RD_BASE64_H
#define RD_BASE64_H

#include "src/base/buffer.h"

/* Base64 without line ends.  Decoding is strict: RADIO_ERROR_FORMAT, with
 * the place, for anything but whole groups of the alphabet. */
enum radio_status rd_base64_encode (const void *data, size_t nbytes,
                                    struct rd_buffer *text)
  RADIO_USE_RESULT;
enum radio_status rd_base64_decode (const char *text, size_t nbytes,
                                    struct rd_buffer *data)
  RADIO_USE_RESULT;

#endif /* RD_BASE64_H */
