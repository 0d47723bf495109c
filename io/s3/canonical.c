/* SPDX-License-Identifier: MIT */
/* The canonical form of a request, of which the signature is made: a server
 * makes it again of what it received, and must come to the same. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "io/percent.h"
#include "io/s3/canonical.h"

/*------------------------------------------------------------------------
 * Characters, whatever the locale
 *----------------------------------------------------------------------*/

static bool
is_blank (unsigned char c)
{
  return c == ' ' || c == '\t';
}

static unsigned char
to_lower (unsigned char c)
{
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* The value of a hexadecimal digit in upper case; -1: none. */
static int
digit (char c)
{
  return c >= 'a' ? -1 : rd_hex_value (c);
}

/* How many bytes the encoded byte at text takes; 0: rd_percent_encode would not
 * have written it so. */
static size_t
encoded_nbytes (const char *text)
{
  if (rd_is_unreserved ((unsigned char) *text))
    return 1;
  int high = text[0] == '%' ? digit (text[1]) : -1;
  int low = high < 0 ? -1 : digit (text[2]);
  if (low < 0 || rd_is_unreserved ((unsigned char) (high * 16 + low)))
    return 0;
  return 3;
}

/* The bytes up to one of stops, or the end; those before it are encoded. */
static size_t
encoded_span (const char *text, const char *stops)
{
  size_t n = 0, step;
  while (text[n] && !strchr (stops, text[n])
         && (step = encoded_nbytes (text + n)) > 0)
    n += step;
  return n;
}

/*------------------------------------------------------------------------
 * The query
 *----------------------------------------------------------------------*/

struct pair {
  const char *name, *value;   /* within the query */
  size_t name_nbytes, value_nbytes;
};

static int
compare_texts (const char *a, size_t a_nbytes, const char *b, size_t b_nbytes)
{
  size_t n = a_nbytes < b_nbytes ? a_nbytes : b_nbytes;
  int order = n ? memcmp (a, b, n) : 0;
  return order ? order : rd_compare_u64 (a_nbytes, b_nbytes);
}

static int
compare_pairs (const void *a_pointer, const void *b_pointer)
{
  const struct pair *a = a_pointer, *b = b_pointer;
  int order = compare_texts (a->name, a->name_nbytes, b->name,
                             b->name_nbytes);
  return order ? order : compare_texts (a->value, a->value_nbytes, b->value,
                                        b->value_nbytes);
}

static size_t
count_pairs (const char *query)
{
  size_t n = 1;
  while ((query = strchr (query, '&'))) {
    query++;
    n++;
  }
  return n;
}

/* A pair of a query, and what stands behind it; NULL when it is not encoded
 * as it must be. */
static const char *
split_pair (const char *text, struct pair *pair)
{
  *pair = (struct pair) { text, "", encoded_span (text, "=&"), 0 };
  text += pair->name_nbytes;
  if (pair->name_nbytes == 0)
    return NULL;
  if (*text == '=') {
    pair->value = ++text;
    pair->value_nbytes = encoded_span (text, "&");
    text += pair->value_nbytes;
  }
  return *text == '&' || *text == '\0' ? text : NULL;
}

static enum radio_status
split_query (const char *query, struct pair *pairs, size_t n)
{
  const char *at = query;
  for (size_t i = 0; i < n; i++) {
    at = split_pair (i ? at + 1 : at, &pairs[i]);
    if (at == NULL)
      return rd_fail (RADIO_ERROR_ARGUMENT, "the query '%s' of a request is "
                      "not encoded as it is signed", query);
  }
  return RADIO_OK;
}

static void
add_pairs (struct rd_s3_digest *digest, const struct pair *pairs, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    rd_s3_digest_add_text (digest, i ? "&" : "");
    rd_s3_digest_add (digest, pairs[i].name, pairs[i].name_nbytes);
    rd_s3_digest_add_text (digest, "=");
    rd_s3_digest_add (digest, pairs[i].value, pairs[i].value_nbytes);
  }
}

static enum radio_status
add_query (struct rd_s3_digest *digest, const char *query)
{
  if (query == NULL || query[0] == '\0')
    return RADIO_OK;
  size_t n = count_pairs (query);
  RD_FREE struct pair *pairs = rd_calloc (n, sizeof *pairs);
  if (pairs == NULL)
    return rd_fail_memory (n * sizeof *pairs);
  RD_TRY (split_query (query, pairs, n));
  qsort (pairs, n, sizeof *pairs, compare_pairs);
  add_pairs (digest, pairs, n);
  return RADIO_OK;
}

static enum radio_status
add_path (struct rd_s3_digest *digest, const char *path)
{
  if (path[0] != '/')
    return rd_fail (RADIO_ERROR_ARGUMENT, "the path '%s' of a request does "
                    "not begin with '/'", path);
  const char *at = path;
  while (*at == '/')
    at += 1 + encoded_span (at + 1, "/");
  if (*at)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the path '%s' of a request is not "
                    "encoded as it is signed", path);
  rd_s3_digest_add_text (digest, path);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Headers
 *----------------------------------------------------------------------*/

/* By the whole name: of "x-amz-meta-a" and "x-amz-meta-a-b" the shorter is
 * the first, though '-' comes before ':'. */
static int
compare_names (const char *a, const char *b)
{
  while (*a && to_lower ((unsigned char) *a) == to_lower ((unsigned char) *b))
    a++, b++;
  return to_lower ((unsigned char) *a) - to_lower ((unsigned char) *b);
}

/* What proxies change or take away. */
static bool
is_signed (const char *name)
{
  static const char *const names[] = {
    "connection", "expect", "transfer-encoding", "upgrade", "user-agent",
    "x-amzn-trace-id",
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (compare_names (name, names[i]) == 0)
      return false;
  return true;
}

/* Headers of one name stay in their order.  They are few. */
void
rd_s3_sort_headers (struct rd_s3_header *headers, size_t *n)
{
  size_t nsorted = 0;
  for (size_t i = 0; i < *n; i++) {
    struct rd_s3_header header = headers[i];
    if (!is_signed (header.name))
      continue;
    size_t at = nsorted++;
    for (; at > 0 && compare_names (headers[at - 1].name, header.name) > 0;
         at--)
      headers[at] = headers[at - 1];
    headers[at] = header;
  }
  *n = nsorted;
}

static bool
is_repeated (const struct rd_s3_header *headers, size_t i)
{
  return i > 0 && compare_names (headers[i - 1].name, headers[i].name) == 0;
}

static enum radio_status
append_lower (struct rd_buffer *names, const char *name)
{
  for (; *name; name++) {
    unsigned char c = to_lower ((unsigned char) *name);
    RD_TRY (rd_buffer_append (names, &c, 1));
  }
  return RADIO_OK;
}

enum radio_status
rd_s3_signed_names (const struct rd_s3_header *headers, size_t n,
                    struct rd_buffer *names)
{
  for (size_t i = 0; i < n; i++) {
    if (is_repeated (headers, i))
      continue;
    if (i > 0)
      RD_TRY (rd_buffer_append (names, ";", 1));
    RD_TRY (append_lower (names, headers[i].name));
  }
  return RADIO_OK;
}

/* Without blanks at the ends, and with one in place of several. */
static void
add_value (struct rd_s3_digest *digest, const char *value)
{
  bool is_first = true;
  while (*value) {
    size_t n = 0;
    while (is_blank ((unsigned char) *value))
      value++;
    while (value[n] && !is_blank ((unsigned char) value[n]))
      n++;
    if (n > 0)
      rd_s3_digest_add_text (digest, is_first ? "" : " ");
    rd_s3_digest_add (digest, value, n);
    is_first = false;
    value += n;
  }
}

static void
add_name (struct rd_s3_digest *digest, const char *name)
{
  for (; *name; name++) {
    unsigned char c = to_lower ((unsigned char) *name);
    rd_s3_digest_add (digest, &c, 1);
  }
}

static void
add_headers (struct rd_s3_digest *digest, const struct rd_s3_header *headers,
             size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (is_repeated (headers, i)) {
      rd_s3_digest_add_text (digest, ",");
    } else {
      rd_s3_digest_add_text (digest, i ? "\n" : "");
      add_name (digest, headers[i].name);
      rd_s3_digest_add_text (digest, ":");
    }
    add_value (digest, headers[i].value);
  }
  rd_s3_digest_add_text (digest, "\n");
}

/*------------------------------------------------------------------------
 * The whole
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_canonical_sha256 (const struct rd_s3_request *request,
                        const struct rd_s3_header *headers, size_t n,
                        const struct rd_buffer *names,
                        char text[RD_S3_SHA256_NBYTES])
{
  RD_S3_DIGEST_SCOPE struct rd_s3_digest digest = { 0 };
  RD_TRY (rd_s3_digest_begin (&digest));
  rd_s3_digest_add_text (&digest, request->method);
  rd_s3_digest_add_text (&digest, "\n");
  RD_TRY (add_path (&digest, request->path));
  rd_s3_digest_add_text (&digest, "\n");
  RD_TRY (add_query (&digest, request->query));
  rd_s3_digest_add_text (&digest, "\n");
  add_headers (&digest, headers, n);
  rd_s3_digest_add_text (&digest, "\n");
  rd_s3_digest_add (&digest, names->data, names->nbytes);
  rd_s3_digest_add_text (&digest, "\n");
  rd_s3_digest_add_text (&digest, request->payload_sha256);
  return rd_s3_digest_end (&digest, text);
}
