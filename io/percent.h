/* SPDX-License-Identifier: MIT */
/* Percent-encoding: bytes of keys and names in URLs. */
#ifndef RD_PERCENT_H
#define RD_PERCENT_H

#include <radio/base.h>

/* RFC 3986, 2.3: characters that are not encoded. */
bool rd_is_unreserved (unsigned char c);

/* Encodes all but unreserved characters and, if it is kept, '/' as "%2B",
 * with upper case digits; allocated.  NULL without memory (the message is
 * set). */
char *rd_percent_encode (const char *bytes, size_t n, bool keeps_slash);

/* Decodes in place, and '+' as a blank as in forms; false for an invalid
 * escape or a NUL. */
bool rd_percent_decode (char *text, bool plus_is_blank);

#endif /* RD_PERCENT_H */
