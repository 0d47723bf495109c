/* SPDX-License-Identifier: MIT */
/* Bytes as text of an HTML page, in fewer letters than base64 takes. */
#ifndef RD_BASE85_H
#define RD_BASE85_H

#include "src/base/buffer.h"

/* Ascii85 without its short forms and frame: four bytes, the first one the
 * highest, are five digits, of which '!' is 0; n bytes that are left over
 * are n + 1 digits.  'v' stands for '<' and 'w' for '&', so that no text of
 * it ends an element or begins an entity. */
enum radio_status rd_base85_encode (const void *data, size_t nbytes,
                                    struct rd_buffer *text)
  RADIO_USE_RESULT;

#endif /* RD_BASE85_H */
