/* SPDX-License-Identifier: MIT */
/* Parsing of response headers (RFC 9110).  A malformed header counts as
 * missing: its users report that. */
#include <config.h>

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#include "src/base/checked.h"
#include "io/http/http.h"

/* The unparsed rest of a line. */
struct text {
  const char *at, *end;
};

static bool
skip (struct text *text, const char *what)
{
  size_t n = strlen (what);
  if ((size_t) (text->end - text->at) < n
      || strncasecmp (text->at, what, n) != 0)
    return false;
  text->at += n;
  return true;
}

static void
skip_blanks (struct text *text)
{
  while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
    text->at++;
}

/* Skips to the value of a header, if the line has this name. */
static bool
is_header (struct text *text, const char *name)
{
  if (!skip (text, name))
    return false;
  skip_blanks (text);
  return true;
}

static bool
parse_number (struct text *text, uint64_t *number)
{
  uint64_t value = 0;
  const char *begin = text->at;
  for (; text->at < text->end && *text->at >= '0' && *text->at <= '9';
       text->at++)
    if (rd_mul_overflows (value, 10, &value)
        || rd_add_overflows (value, (uint64_t) (*text->at - '0'), &value))
      return false;
  *number = value;
  return text->at > begin;
}

static bool
parse_last_number (struct text *text, uint64_t *number)
{
  return parse_number (text, number) && text->at == text->end;
}

/* "bytes 0-99/1234", with "*" in place of the size or, with status 416, of
 * the bytes; one that ends after the object is malformed (RFC 9110, 14.4). */
static void
parse_content_range (struct rd_http_response *response, struct text *text)
{
  uint64_t first = 0, last = 0;
  response->has_range = response->has_total = false;
  if (!skip (text, "bytes "))
    return;
  bool has_range = !skip (text, "*");
  if (has_range && (!parse_number (text, &first) || !skip (text, "-")
                    || !parse_number (text, &last) || last < first))
    return;
  if (!skip (text, "/"))
    return;
  bool has_total = parse_last_number (text, &response->total);
  if (has_range && has_total && last >= response->total)
    return;
  response->has_total = has_total;
  response->has_range = has_range;
  response->first = first;
  response->last = last;
}

static void
copy_text (const struct text *text, char *to, size_t nbytes)
{
  size_t n = (size_t) (text->end - text->at);
  if (n >= nbytes)
    return;
  memcpy (to, text->at, n);
  to[n] = '\0';
}

/* HOST:PORT of "https://USER@HOST:PORT/PATH"; the rest may be secret. */
static void
parse_location (struct rd_http_response *response, struct text *text)
{
  struct text host = *text;
  response->redirected_to[0] = '\0';
  if (!skip (&host, "https://") && !skip (&host, "http://"))
    return;
  for (const char *p = host.at; p < host.end; p++)
    if (strchr ("/?#", *p))
      host.end = p;
    else if (*p == '@')
      host.at = p + 1;
  copy_text (&host, response->redirected_to,
             sizeof response->redirected_to);
}

void
rd_http_response_line (struct rd_http_response *response, const char *line,
                       size_t nbytes)
{
  struct text text = { line, line + nbytes };
  response->headers_nbytes += nbytes;
  while (text.end > text.at && strchr ("\r\n \t", text.end[-1]))
    text.end--;
  if (skip (&text, "HTTP/")) {
    /* "HTTP/1.1 206 Partial Content" */
    uint64_t status = 0;
    while (text.at < text.end && *text.at != ' ')
      text.at++;
    skip_blanks (&text);
    *response = (struct rd_http_response) {
      .headers_nbytes = response->headers_nbytes, .date_s = -1,
    };
    if (parse_number (&text, &status) && status < 1000)
      response->status = (unsigned) status;
  } else if (is_header (&text, "content-length:")) {
    response->has_nbytes = parse_last_number (&text, &response->nbytes);
  } else if (is_header (&text, "content-range:")) {
    parse_content_range (response, &text);
  } else if (is_header (&text, "content-encoding:")) {
    bool is_plain = skip (&text, "identity") && text.at == text.end;
    response->is_encoded |= !is_plain && text.at < text.end;
    response->is_gzip = (skip (&text, "gzip") || skip (&text, "x-gzip"))
                        && text.at == text.end;
  } else if (is_header (&text, "transfer-encoding:")) {
    response->is_chunked = skip (&text, "chunked") && text.at == text.end;
  } else if (is_header (&text, "retry-after:")) {
    if (!parse_last_number (&text, &response->retry_after_s))
      response->retry_after_s = 0;
  } else if (is_header (&text, "etag:")) {
    copy_text (&text, response->etag, sizeof response->etag);
  } else if (is_header (&text, "date:")) {
    /* "Sun, 06 Nov 1994 08:49:37 GMT"; libcurl parses it in any locale. */
    char date[64] = "";
    copy_text (&text, date, sizeof date);
    time_t seconds = *date ? curl_getdate (date, NULL) : -1;
    response->date_s = seconds < 0 ? -1 : seconds;
  } else if (is_header (&text, "location:")) {
    parse_location (response, &text);
  } else if (is_header (&text, "x-amz-bucket-region:")) {
    copy_text (&text, response->region, sizeof response->region);
  } else if (is_header (&text, "x-amz-checksum-crc32c:")) {
    response->has_sum = true;
  } else if (is_header (&text, "x-amz-meta-radio-writer:")) {
    copy_text (&text, response->writer, sizeof response->writer);
  }
}
