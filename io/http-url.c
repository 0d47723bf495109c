/* SPDX-License-Identifier: MIT */
/* Where an object is: the store's URL and its key. */
#include <config.h>

#include <curl/curl.h>
#include <string.h>

#include "profiler/base/cleanup.h"
#include "io/http.h"

static void
cleanup_url (CURLU **url)
{
  curl_url_cleanup (*url);
}

static bool
has_part (CURLU *url, CURLUPart part)
{
  char *text = NULL;
  bool found = curl_url_get (url, part, &text, 0) == CURLUE_OK;
  curl_free (text);
  return found;
}

/* The message does not repeat what it may not show. */
enum radio_status
rd_http_check_url (const char *text)
{
  RD_CLEANUP (cleanup_url) CURLU *url = curl_url ();
  if (url == NULL)
    return rd_fail_memory (0);
  CURLUcode code = curl_url_set (url, CURLUPART_URL, text, 0);
  if (code != CURLUE_OK)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the store's URL: %s",
                    curl_url_strerror (code));
  if (has_part (url, CURLUPART_USER) || has_part (url, CURLUPART_PASSWORD))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the store's URL must not hold a "
                    "user or a password");
  if (strpbrk (text, "?#"))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the store's URL must end with its "
                    "path, without '?' or '#'");
  return RADIO_OK;
}

/* RFC 3986, 2.3, and the '/' between names. */
static bool
is_plain (unsigned char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9') || (c && strchr ("-._~/", c));
}

static char *
encode (char *to, const char *key)
{
  static const char digits[] = "0123456789ABCDEF";
  for (const unsigned char *p = (const unsigned char *) key; *p; p++) {
    if (is_plain (*p)) {
      *to++ = (char) *p;
      continue;
    }
    *to++ = '%';
    *to++ = digits[*p >> 4];
    *to++ = digits[*p & 15];
  }
  return to;
}

char *
rd_http_join (const char *url, const char *key)
{
  size_t n = strlen (url), nbytes = n + 3 * strlen (key) + 2;
  char *joined = rd_malloc (nbytes);
  if (joined == NULL) {
    rd_fail_memory (nbytes);
    return NULL;
  }
  memcpy (joined, url, n);
  joined[n] = '/';
  *encode (joined + n + 1, key) = '\0';
  return joined;
}
