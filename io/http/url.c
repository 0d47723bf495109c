/* SPDX-License-Identifier: MIT */
/* Where an object is: the store's URL and its key. */
#include <config.h>

#include <curl/curl.h>
#include <string.h>

#include "src/base/cleanup.h"
#include "io/http/http.h"
#include "io/io.h"
#include "io/percent.h"

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

char *
rd_http_join (const char *url, const char *key)
{
  RD_FREE char *encoded = rd_percent_encode (key, strlen (key), true);
  return encoded ? rd_key_join (url, encoded) : NULL;
}
