/* SPDX-License-Identifier: MIT */
/* Base 92, for pages. */
#include <config.h>

#include "src/base/base92.h"
#include "src/base/checked.h"
#include "src/base/error.h"

#define PAIR_NBITS 13
#define DIGIT_NBITS 6

static void
append_digit (struct rd_buffer *text, unsigned digit)
{
  unsigned char letter = (unsigned char) ('!' + digit);
  text->data[text->nbytes++] =
    letter == '&' ? '}' : letter == '<' ? '~' : letter;
}

enum radio_status
rd_base92_encode (const void *data, size_t nbytes, struct rd_buffer *text)
{
  const unsigned char *bytes = data;
  text->nbytes = 0;
  /* Two letters for 13 bits are less than five for four bytes. */
  RD_TRY (rd_buffer_reserve (text, rd_mul_sat (rd_div_up (nbytes, 4), 5)));

  unsigned held = 0, nheld = 0;
  for (size_t at = 0; at < nbytes; at++) {
    held |= (unsigned) bytes[at] << nheld;
    nheld += 8;
    if (nheld < PAIR_NBITS)
      continue;
    unsigned value = held & ((1u << PAIR_NBITS) - 1);
    append_digit (text, value / 92);
    append_digit (text, value % 92);
    held >>= PAIR_NBITS;
    nheld -= PAIR_NBITS;
  }

  if (nheld > DIGIT_NBITS)
    append_digit (text, held / 92);
  if (nheld > 0)
    append_digit (text, held % 92);
  return RADIO_OK;
}
