/* SPDX-License-Identifier: MIT */
/* Percent-encoding of any bytes, in any locale. */
#include <config.h>

#include <string.h>

#include "src/base/alloc.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/text.h"
#include "io/percent.h"

bool
rd_is_unreserved (unsigned char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9') || (c && strchr ("-._~", c));
}

char *
rd_percent_encode (const char *bytes, size_t n, bool keeps_slash)
{
  static const char digits[] = "0123456789ABCDEF";
  uint64_t nbytes = rd_add_sat (rd_mul_sat (n, 3), 1);
  char *encoded = nbytes > SIZE_MAX / 2 ? NULL : rd_malloc (nbytes);
  if (encoded == NULL) {
    rd_fail_memory (nbytes);
    return NULL;
  }
  char *to = encoded;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char) bytes[i];
    if (rd_is_unreserved (c) || (keeps_slash && c == '/')) {
      *to++ = (char) c;
      continue;
    }
    *to++ = '%';
    *to++ = digits[c >> 4];
    *to++ = digits[c & 15];
  }
  *to = '\0';
  return encoded;
}

bool
rd_percent_decode (char *text, bool plus_is_blank)
{
  char *to = text;
  for (const char *p = text; *p; to++) {
    if (*p != '%') {
      *to = plus_is_blank && *p == '+' ? ' ' : *p;
      p++;
      continue;
    }
    int high = rd_hex_value (p[1]);
    int low = high < 0 ? -1 : rd_hex_value (p[2]);
    if (low < 0 || high + low == 0)
      return false;
    *to = (char) (high * 16 + low);
    p += 3;
  }
  *to = '\0';
  return true;
}
