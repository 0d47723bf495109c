/* SPDX-License-Identifier: MIT */
/* Ascii85, for pages. */
#include <config.h>

#include "src/base/base85.h"
#include "src/base/checked.h"
#include "src/base/error.h"

#define GROUP_NBYTES 4
#define GROUP_NDIGITS 5

enum radio_status
rd_base85_encode (const void *data, size_t nbytes, struct rd_buffer *text)
{
  const unsigned char *bytes = data;
  text->nbytes = 0;
  RD_TRY (rd_buffer_reserve (text, rd_div_up (nbytes, GROUP_NBYTES)
                                   * GROUP_NDIGITS));
  for (size_t at = 0; at < nbytes; at += GROUP_NBYTES) {
    /* A last group of 1 to 3 bytes has one digit more than bytes. */
    size_t n = rd_min_u64 (nbytes - at, GROUP_NBYTES);
    unsigned char *group = text->data + text->nbytes;
    uint32_t value = 0;
    for (size_t i = 0; i < GROUP_NBYTES; i++)
      value = value << 8 | (i < n ? bytes[at + i] : 0);
    for (size_t i = GROUP_NDIGITS; i-- > 0; value /= 85) {
      unsigned char letter = (unsigned char) ('!' + value % 85);
      if (i <= n)
        group[i] = letter == '<' ? 'v' : letter == '&' ? 'w' : letter;
    }
    text->nbytes += n + 1;
  }
  return RADIO_OK;
}
