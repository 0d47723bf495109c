/* SPDX-License-Identifier: MIT */
/* Bytes as text of an HTML page, in fewer letters than base64 takes. */
#ifndef RD_BASE92_H
#define RD_BASE92_H

#include "src/base/buffer.h"

/* Thirteen bits, the first one the lowest, are two digits of base 92, the
 * first one the higher, of which '!' is 0; at the end one digit has up to 6
 * bits.  '}' stands for '&' and '~' for '<', so that no text of it ends an
 * element or begins an entity. */
enum radio_status rd_base92_encode (const void *data, size_t nbytes,
                                    struct rd_buffer *text)
  RADIO_USE_RESULT;

#endif /* RD_BASE92_H */
