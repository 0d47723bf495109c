/* SPDX-License-Identifier: MIT */
/* Ascii85, for pages. */
#include <config.h>

#include "src/base/base85.h"
#include "src/base/checked.h"
#include "src/base/error.h"

#define GROUP_NBYTES 4
#define GROUP_NDIGITS 5

static unsigned char
letter_of (uint32_t digit)
{
  unsigned char letter = (unsigned char) ('!' + digit);
  return letter == '<' ? 'v' : letter == '&' ? 'w' : letter;
}

/* 1 to 4 bytes as one digit more. */
static void
encode_group (const unsigned char *data, size_t n, unsigned char *text)
{
  uint32_t value = 0;
  for (size_t i = 0; i < GROUP_NBYTES; i++)
    value = value << 8 | (i < n ? data[i] : 0);
  for (size_t i = GROUP_NDIGITS; i-- > 0; value /= 85)
    if (i <= n)
      text[i] = letter_of (value % 85);
}

enum radio_status
rd_base85_encode (const void *data, size_t nbytes, struct rd_buffer *text)
{
  const unsigned char *bytes = data;
  text->nbytes = 0;
  RD_TRY (rd_buffer_reserve (text, rd_div_up (nbytes, GROUP_NBYTES)
                                   * GROUP_NDIGITS));
  for (size_t i = 0; i < nbytes; i += GROUP_NBYTES) {
    size_t n = rd_min_u64 (nbytes - i, GROUP_NBYTES);
    encode_group (bytes + i, n, text->data + text->nbytes);
    text->nbytes += n + 1;
  }
  return RADIO_OK;
}
