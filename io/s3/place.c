/* SPDX-License-Identifier: MIT */
/* The address of an S3 store: its URI, endpoint, host and paths. */
#include <config.h>

#include <curl/curl.h>
#include <string.h>

#include "io/percent.h"
#include "io/s3/store.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define MAX_BUCKET_NBYTES 255

char *
rd_s3_join (const char *const *texts)
{
  size_t nbytes = 1;
  for (size_t i = 0; texts[i]; i++)
    nbytes += strlen (texts[i]);
  char *joined = rd_malloc (nbytes), *to = joined;
  if (joined == NULL) {
    rd_fail_memory (nbytes);
    return NULL;
  }
  for (size_t i = 0; texts[i]; i++) {
    size_t n = strlen (texts[i]);
    memcpy (to, texts[i], n);
    to += n;
  }
  *to = '\0';
  return joined;
}

/*------------------------------------------------------------------------
 * The URI
 *----------------------------------------------------------------------*/

/* The rule of AWS for new buckets; others have looser ones. */
static bool
is_strict_bucket (const char *bucket)
{
  size_t n = strlen (bucket);
  return n >= 3 && n <= 63 && strspn (bucket, LOWER DIGITS ".-") == n
         && strspn (bucket, LOWER DIGITS) > 0 && !strstr (bucket, "..")
         && !strchr (".-", bucket[n - 1]);
}

static enum radio_status
parse_uri (struct rd_s3_place *place, const char *uri)
{
  static const char plain[] = LOWER DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";
  const struct rd_io named = { .uri = (char *) "s3" };
  const char *bucket = uri + strlen ("s3://");
  size_t n = strcspn (bucket, "/");
  const char *prefix = bucket + n + (bucket[n] == '/');
  size_t prefix_nbytes = strlen (prefix);
  while (prefix_nbytes > 0 && prefix[prefix_nbytes - 1] == '/')
    prefix_nbytes--;
  place->bucket = rd_strndup (bucket, n);
  place->prefix = rd_strndup (prefix, prefix_nbytes);
  if (!place->bucket || !place->prefix)
    return rd_fail_memory (n + prefix_nbytes + 2);
  /* The text before an '@' may be secret. */
  if (strpbrk (place->bucket, "@:"))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the store's URI must not contain "
                    "a user, a password or a port: s3://BUCKET/PREFIX");
  if (n == 0 || n > MAX_BUCKET_NBYTES || strspn (place->bucket, plain) != n
      || place->bucket[0] == '.')
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s': invalid bucket name",
                    place->bucket);
  return rd_prefix_check (&named, place->prefix);
}

/*------------------------------------------------------------------------
 * The endpoint
 *----------------------------------------------------------------------*/

static void
cleanup_url (CURLU **url)
{
  curl_url_cleanup (*url);
}

static void
cleanup_curl (char **text)
{
  curl_free (*text);
}

static enum radio_status
parse_endpoint (struct rd_s3_place *place, const char *endpoint)
{
  RD_CLEANUP (cleanup_url) CURLU *url = curl_url ();
  RD_CLEANUP (cleanup_curl) char *scheme = NULL;
  RD_CLEANUP (cleanup_curl) char *host = NULL;
  RD_CLEANUP (cleanup_curl) char *port = NULL;
  RD_CLEANUP (cleanup_curl) char *path = NULL;
  if (url == NULL)
    return rd_fail_memory (0);
  enum radio_status status = rd_http_check_url (endpoint);
  if (status != RADIO_OK)
    return rd_fail_in (status, "the endpoint");
  if (curl_url_set (url, CURLUPART_URL, endpoint, 0) != CURLUE_OK
      || curl_url_get (url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK)
    return rd_fail_memory (0);
  place->is_https = strcmp (scheme, "https") == 0;
  if (!place->is_https && strcmp (scheme, "http") != 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the endpoint must begin with "
                    "https:// or http://");
  if (curl_url_get (url, CURLUPART_HOST, &host, 0) != CURLUE_OK)
    return rd_fail_memory (0);
  if (curl_url_get (url, CURLUPART_PORT, &port, CURLU_NO_DEFAULT_PORT)
      != CURLUE_OK)
    port = NULL;
  place->host = port ? RD_S3_JOIN (host, ":", port) : RD_S3_JOIN (host);
  if (place->host == NULL)
    return RADIO_ERROR_MEMORY;
  if (curl_url_get (url, CURLUPART_PATH, &path, CURLU_URLDECODE)
      != CURLUE_OK)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the endpoint's path cannot be "
                    "decoded");
  size_t n = strlen (path);
  while (n > 0 && path[n - 1] == '/')
    n--;
  /* Encoded as it is sent and signed. */
  place->base = rd_percent_encode (path, n, true);
  return place->base ? RADIO_OK : RADIO_ERROR_MEMORY;
}

enum radio_status
rd_s3_place_parse (struct rd_s3_place *place, const char *uri,
                   const struct rd_s3_options *options)
{
  RD_TRY (parse_uri (place, uri));
  if (options->endpoint)
    RD_TRY (parse_endpoint (place, options->endpoint));
  else {
    place->is_https = true;
    place->base = rd_strdup ("");
    if (!place->base)
      return rd_fail_memory (1);
  }
  /* The wildcard of a TLS certificate matches one label without a point. */
  place->is_virtual = options->addressing == RD_S3_ADDRESSING_VIRTUAL
    || (options->addressing == RD_S3_ADDRESSING_AUTO && !place->host
        && is_strict_bucket (place->bucket) && !strchr (place->bucket, '.'));
  return RADIO_OK;
}

void
rd_s3_place_free (struct rd_s3_place *place)
{
  rd_free (place->host);
  rd_free (place->base);
  rd_free (place->bucket);
  rd_free (place->prefix);
  *place = (struct rd_s3_place) { 0 };
}

/*------------------------------------------------------------------------
 * Requests
 *----------------------------------------------------------------------*/

bool
rd_s3_is_region (const char *region)
{
  static const char plain[] = LOWER DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";
  size_t n = strlen (region);
  return n > 0 && n < 64 && strspn (region, plain) == n
         && region[0] != '.' && region[0] != '-' && !strstr (region, "..");
}

char *
rd_s3_place_host (const struct rd_s3_place *place, const char *region)
{
  const char *bucket = place->is_virtual ? place->bucket : "";
  const char *point = place->is_virtual ? "." : "";
  if (place->host)
    return RD_S3_JOIN (bucket, point, place->host);
  bool is_china = strncmp (region, "cn-", 3) == 0;
  return RD_S3_JOIN (bucket, point, "s3.", region, ".amazonaws.com",
                     is_china ? ".cn" : "");
}

char *
rd_s3_place_key (const struct rd_s3_place *place, const char *key)
{
  return *key ? rd_key_join (place->prefix, key)
              : RD_S3_JOIN (place->prefix);
}

char *
rd_s3_place_path (const struct rd_s3_place *place, const char *key)
{
  const char *slash = place->is_virtual ? "" : "/";
  const char *bucket = place->is_virtual ? "" : place->bucket;
  if (key == NULL)
    return RD_S3_JOIN (place->base, "/", bucket);
  RD_FREE char *whole = rd_s3_place_key (place, key);
  if (whole == NULL)
    return NULL;
  RD_FREE char *encoded = rd_percent_encode (whole, strlen (whole), true);
  if (encoded == NULL)
    return NULL;
  return RD_S3_JOIN (place->base, slash, bucket, "/", encoded);
}
