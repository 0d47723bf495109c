/* SPDX-License-Identifier: MIT */
/* What the headers of an answer say (RFC 9110).  A header that is broken
 * counts as missing: what needs it tells so. */
#include <config.h>

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#include "src/base/checked.h"
#include "io/http/http.h"

/* A line that is being read. */
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

static bool
take_number (struct text *text, uint64_t *number)
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
take_last_number (struct text *text, uint64_t *number)
{
  return take_number (text, number) && text->at == text->end;
}

/* "bytes 0-99/1234", with "*" in place of the size or, with status 416, of
 * the bytes; one that ends behind the object is broken (RFC 9110, 14.4). */
static void
take_content_range (struct rd_http_answer *answer, struct text *text)
{
  uint64_t first = 0, last = 0;
  answer->has_range = answer->has_total = false;
  if (!skip (text, "bytes "))
    return;
  bool has_range = !skip (text, "*");
  if (has_range && (!take_number (text, &first) || !skip (text, "-")
                    || !take_number (text, &last) || last < first))
    return;
  if (!skip (text, "/"))
    return;
  bool has_total = take_last_number (text, &answer->total);
  if (has_range && has_total && last >= answer->total)
    return;
  answer->has_total = has_total;
  answer->has_range = has_range;
  answer->first = first;
  answer->last = last;
}

static void
take_text (const struct text *text, char *to, size_t nbytes)
{
  size_t n = (size_t) (text->end - text->at);
  if (n >= nbytes)
    return;
  memcpy (to, text->at, n);
  to[n] = '\0';
}

/* "Sun, 06 Nov 1994 08:49:37 GMT"; libcurl reads it in any locale. */
static void
take_date (struct rd_http_answer *answer, const struct text *text)
{
  char date[64] = "";
  take_text (text, date, sizeof date);
  time_t seconds = *date ? curl_getdate (date, NULL) : -1;
  answer->date_s = seconds < 0 ? -1 : seconds;
}

static void
take_header (struct rd_http_answer *answer, struct text *text)
{
  if (skip (text, "content-length:")) {
    skip_blanks (text);
    answer->has_nbytes = take_last_number (text, &answer->nbytes);
  } else if (skip (text, "content-range:")) {
    skip_blanks (text);
    take_content_range (answer, text);
  } else if (skip (text, "content-encoding:")) {
    skip_blanks (text);
    bool is_plain = skip (text, "identity") && text->at == text->end;
    answer->is_encoded |= !is_plain && text->at < text->end;
  } else if (skip (text, "transfer-encoding:")) {
    skip_blanks (text);
    answer->is_chunked = skip (text, "chunked") && text->at == text->end;
  } else if (skip (text, "retry-after:")) {
    skip_blanks (text);
    if (!take_last_number (text, &answer->retry_after_s))
      answer->retry_after_s = 0;
  } else if (skip (text, "etag:")) {
    skip_blanks (text);
    take_text (text, answer->etag, sizeof answer->etag);
  } else if (skip (text, "date:")) {
    skip_blanks (text);
    take_date (answer, text);
  } else if (skip (text, "x-amz-bucket-region:")) {
    skip_blanks (text);
    take_text (text, answer->region, sizeof answer->region);
  } else if (skip (text, "x-amz-checksum-crc32c:")) {
    answer->has_sum = true;
  } else if (skip (text, "x-amz-meta-radio-writer:")) {
    skip_blanks (text);
    take_text (text, answer->writer, sizeof answer->writer);
  }
}

/* "HTTP/1.1 206 Partial Content" */
static void
take_status (struct rd_http_answer *answer, struct text *text)
{
  size_t headers_nbytes = answer->headers_nbytes;
  uint64_t status = 0;
  while (text->at < text->end && *text->at != ' ')
    text->at++;
  skip_blanks (text);
  *answer = (struct rd_http_answer) {
    .headers_nbytes = headers_nbytes, .date_s = -1,
  };
  if (take_number (text, &status) && status < 1000)
    answer->status = (unsigned) status;
}

void
rd_http_answer_line (struct rd_http_answer *answer, const char *line,
                     size_t nbytes)
{
  struct text text = { line, line + nbytes };
  answer->headers_nbytes += nbytes;
  while (text.end > text.at && strchr ("\r\n \t", text.end[-1]))
    text.end--;
  if (skip (&text, "HTTP/"))
    take_status (answer, &text);
  else
    take_header (answer, &text);
}
