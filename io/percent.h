/* SPDX-License-Identifier: MIT */
/* Percent-encoding: bytes of keys and names in URLs. */
#ifndef RD_PERCENT_H
#define RD_PERCENT_H

#include <radio/base.h>

/* RFC 3986, 2.3: what stands for itself. */
bool rd_is_unreserved (unsigned char c);

/* The value of a hexadecimal digit; -1: none. */
int rd_hex_value (char c);

/* All but unreserved characters and, if it is kept, '/' as "%2B", with upper
 * case digits; allocated.  NULL without memory (the message is set). */
char *rd_percent_encode (const char *bytes, size_t n, bool keeps_slash);

/* Undo it in place, and take '+' for a blank where forms have it so; false
 * for a broken one or a NUL. */
bool rd_percent_decode (char *text, bool plus_is_blank);

#endif /* RD_PERCENT_H */
