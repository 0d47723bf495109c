/* SPDX-License-Identifier: MIT */
/* Base64 by OpenSSL, whose decoder takes white space, counts padding as
 * data and believes an '=' anywhere: its input is checked here. */
#include <config.h>

#include <limits.h>
#include <string.h>

#include <openssl/evp.h>

#include "src/base/base64.h"
#include "src/base/error.h"

enum radio_status
rd_base64_encode (const void *data, size_t nbytes, struct rd_buffer *text)
{
  if (nbytes > INT_MAX / 4 * 3 - 3)
    return rd_fail (RADIO_ERROR_LIMIT, "%zu bytes are too many for base64",
                    nbytes);
  text->nbytes = 0;
  RD_TRY (rd_buffer_reserve (text, (nbytes + 2) / 3 * 4 + 1));
  int n = EVP_EncodeBlock (text->data, data, (int) nbytes);
  text->nbytes = (size_t) n;
  return RADIO_OK;
}

enum radio_status
rd_base64_decode (const char *text, size_t nbytes, struct rd_buffer *data)
{
  size_t npad = 0;                      /* the '=' at the end: two at most */
  while (npad < 2 && npad < nbytes && text[nbytes - 1 - npad] == '=')
    npad++;
  for (size_t i = 0; i < nbytes - npad; i++) {
    char c = text[i];
    if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
          || (c >= '0' && c <= '9') || c == '+' || c == '/'))
      return rd_fail (RADIO_ERROR_FORMAT,
                      "character %zu is not in the alphabet of base64", i);
  }
  if (nbytes % 4 != 0 || nbytes > INT_MAX)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "base64 text of %zu characters is cut short", nbytes);
  data->nbytes = 0;
  RD_TRY (rd_buffer_reserve (data, nbytes / 4 * 3 + 1));
  int n = EVP_DecodeBlock (data->data, (const unsigned char *) text,
                           (int) nbytes);
  if (n < 0)
    return rd_fail (RADIO_ERROR_FORMAT, "invalid base64 text");
  data->nbytes = (size_t) n - npad;
  return RADIO_OK;
}
