/* SPDX-License-Identifier: MIT */
/* Signs requests: one JSON object a line on the standard input, its lines of
 * headers as one JSON list a line on the standard output.  Run by
 * tests/interop/test_s3_sign.py, which has botocore sign the same.
 *
 *    {"method", "host", "key", "query": [[NAME, VALUE or null], ...],
 *     "headers": [[NAME, VALUE], ...], "body" or "payload", "access_key",
 *     "secret_key", "session_token", "region", "service", "now_s"} */
#include <config.h>

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/json.h"
#include "io/percent.h"
#include "io/s3/sign.h"

#define MAX_HEADERS 64
#define WHERE "standard input"

static const char *
text_at (struct json_object *list, size_t i)
{
  return json_object_get_string (json_object_array_get_idx (list, i));
}

static const char *
text_of (struct json_object *request, const char *member)
{
  return json_object_get_string (rd_json_member (request, member));
}

static void
append (struct rd_buffer *buffer, const char *text)
{
  if (rd_buffer_append (buffer, text, strlen (text)) != RADIO_OK)
    errx (1, "%s", radio_error_message ());
}

static void
append_encoded (struct rd_buffer *buffer, const char *text, bool keeps_slash)
{
  RD_FREE char *encoded = rd_percent_encode (text, strlen (text), keeps_slash);
  if (encoded == NULL)
    errx (1, "%s", radio_error_message ());
  append (buffer, encoded);
}

static void
append_query (struct rd_buffer *buffer, struct json_object *query)
{
  size_t n = json_object_array_length (query);
  for (size_t i = 0; i < n; i++) {
    struct json_object *pair = json_object_array_get_idx (query, i);
    append (buffer, i ? "&" : "");
    append_encoded (buffer, text_at (pair, 0), false);
    if (text_at (pair, 1)) {
      append (buffer, "=");
      append_encoded (buffer, text_at (pair, 1), false);
    }
  }
}

static size_t
fill_headers (struct json_object *list, struct rd_s3_header *headers)
{
  size_t n = json_object_array_length (list);
  if (n > MAX_HEADERS)
    errx (1, "too many headers");
  for (size_t i = 0; i < n; i++) {
    struct json_object *pair = json_object_array_get_idx (list, i);
    headers[i].name = text_at (pair, 0);
    headers[i].value = text_at (pair, 1);
  }
  return n;
}

static void
print (const struct rd_s3_signed *out)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *list =
    json_object_new_array ();
  for (size_t i = 0; i < out->nlines; i++)
    json_object_array_add (list, json_object_new_string (out->lines[i]));
  puts (json_object_to_json_string_ext (list, JSON_C_TO_STRING_PLAIN));
}

static enum radio_status
sign (struct json_object *in, struct rd_s3_key_cache *cache)
{
  RD_BUFFER_SCOPE struct rd_buffer path = { 0 }, query = { 0 };
  RD_S3_SIGNED_SCOPE struct rd_s3_signed out = { 0 };
  struct rd_s3_header headers[MAX_HEADERS];
  char sha256[RD_S3_SHA256_NBYTES];
  const char *body = text_of (in, "body");
  struct rd_part part = { body, body ? strlen (body) : 0 };
  RD_TRY (rd_s3_sha256 (&part, 1, sha256));
  append (&path, "/");
  append_encoded (&path, text_of (in, "key"), true);
  append_query (&query, rd_json_member (in, "query"));
  RD_TRY (rd_buffer_append (&path, "", 1));
  RD_TRY (rd_buffer_append (&query, "", 1));
  struct rd_s3_credentials credentials = {
    (char *) text_of (in, "access_key"), (char *) text_of (in, "secret_key"),
    (char *) text_of (in, "session_token"), 0,
  };
  struct rd_s3_request request = {
    text_of (in, "method"), text_of (in, "host"), (char *) path.data,
    (char *) query.data, headers,
    fill_headers (rd_json_member (in, "headers"), headers),
    body ? sha256 : text_of (in, "payload"),
  };
  struct rd_s3_signing signing = {
    &credentials, text_of (in, "region"), text_of (in, "service"),
    json_object_get_int64 (rd_json_member (in, "now_s")), cache,
  };
  RD_TRY (rd_s3_sign (&signing, &request, &out));
  print (&out);
  return RADIO_OK;
}

int
main (void)
{
  struct rd_s3_key_cache cache;
  char *line = NULL;
  size_t room = 0;
  ssize_t nbytes;
  rd_s3_key_cache_init (&cache);
  while ((nbytes = getline (&line, &room, stdin)) > 0) {
    RD_CLEANUP (rd_cleanup_json) struct json_object *in = NULL;
    if (rd_json_parse (line, (size_t) nbytes, WHERE, &in) != RADIO_OK
        || sign (in, &cache) != RADIO_OK)
      errx (1, "%s", radio_error_message ());
  }
  free (line);
  rd_s3_key_cache_free (&cache);
  return 0;
}
