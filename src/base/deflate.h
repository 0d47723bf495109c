/* SPDX-License-Identifier: MIT */
/* Bytes made smaller. */
#ifndef RD_DEFLATE_H
#define RD_DEFLATE_H

#include "src/base/buffer.h"

/* A raw deflate stream (RFC 1951, the browsers' "deflate-raw") of bytes, at
 * a level of libdeflate's, into a buffer that is empty. */
enum radio_status rd_deflate (const void *data, size_t nbytes, int level,
                              struct rd_buffer *packed) RADIO_USE_RESULT;

#endif /* RD_DEFLATE_H */
