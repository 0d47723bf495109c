/* SPDX-License-Identifier: MIT */
/* Headers of HTTP's answers, line by line: no text outgrows its room, and a
 * range that is taken has its ends in order. */
#include <config.h>

#include <string.h>

#include "io/http/http.h"
#include "tests/fuzz/fuzz.h"

static void
check_answer (const struct rd_http_response *answer)
{
  FUZZ_CHECK (answer->status <= 999);
  FUZZ_CHECK (memchr (answer->etag, '\0', sizeof answer->etag));
  FUZZ_CHECK (memchr (answer->region, '\0', sizeof answer->region));
  FUZZ_CHECK (memchr (answer->writer, '\0', sizeof answer->writer));
  if (answer->has_range)
    FUZZ_CHECK (answer->first <= answer->last);
  if (answer->has_range && answer->has_total)
    FUZZ_CHECK (answer->last < answer->total);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  struct rd_http_response answer = { 0 };
  for (size_t at = 0; at < nbytes;) {
    const uint8_t *end = memchr (data + at, '\n', nbytes - at);
    size_t n = end ? (size_t) (end - data) + 1 - at : nbytes - at;
    rd_http_response_line (&answer, (const char *) data + at, n);
    check_answer (&answer);
    at += n;
  }
  return 0;
}

static const char *const seeds[] = {
  "HTTP/1.1 206 Partial Content\r\nContent-Length: 100\r\n"
  "Content-Range: bytes 0-99/18446744073709551615\r\nETag: \"abc\"\r\n"
  "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
  "HTTP/1.1 416 \r\ncontent-range: bytes */12\r\n\r\n",
  "HTTP/1.1 301 Moved\nx-amz-bucket-region: eu-central-1\nRetry-After: 120\n"
  "x-amz-meta-radio-writer: 0123456789abcdef0123456789abcdef\n"
  "Transfer-Encoding: chunked\nContent-Encoding: gzip\n",
  "HTTP/1.1 200 OK\r\nContent-Range: bytes 5-4/3\r\nContent-Length: -1\r\n",
};

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  return fuzz_text_seed (seeds, sizeof seeds / sizeof seeds[0], i, out, room);
}
