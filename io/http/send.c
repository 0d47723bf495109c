/* SPDX-License-Identifier: MIT */
/* What an attempt sends: its method, the headers that were made for it, and
 * its body, from the first byte on each time. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "io/http/engine.h"

/* What libcurl takes at one time, and does not come again before it is sent:
 * how often one hears of a slow link. */
#define SEND_NBYTES 65536L

const char *
rd_http_method_name (enum rd_http_method method)
{
  switch (method) {
  case RD_HTTP_HEAD: return "HEAD";
  case RD_HTTP_PUT: return "PUT";
  case RD_HTTP_POST: return "POST";
  case RD_HTTP_DELETE: return "DELETE";
  default: return "GET";
  }
}

struct rd_http_headers {
  struct curl_slist *list;
};

enum radio_status
rd_http_add_header (struct rd_http_headers *headers, const char *line)
{
  struct curl_slist *list = curl_slist_append (headers->list, line);
  if (list == NULL)
    return rd_fail_memory (strlen (line) + 1);
  headers->list = list;
  return RADIO_OK;
}

/* "Expect: 100-continue" would cost a trip, and a second where it is not
 * known. */
enum radio_status
rd_http_send_prepare (struct rd_http_attempt *attempt)
{
  struct rd_http_task *task = attempt->task;
  struct rd_http_headers headers = { NULL };
  enum radio_status status = rd_http_add_header (&headers, "Expect:");
  if (status == RADIO_OK && task->prepare)
    status = task->prepare (task, &headers);
  attempt->headers = headers.list;
  return status;
}

static bool
has_body (const struct rd_http_task *task)
{
  return task->method == RD_HTTP_PUT || task->method == RD_HTTP_POST;
}

static uint64_t
body_nbytes (const struct rd_http_task *task)
{
  uint64_t nbytes = 0;
  for (size_t i = 0; i < task->nparts; i++)
    nbytes += task->parts[i].nbytes;
  return nbytes;
}

static const struct radio_site first_byte_site = {
  "first byte", RD_IN_NETWORK, "on_read", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static void
skip_parts_that_end (struct rd_http_attempt *attempt)
{
  const struct rd_http_task *task = attempt->task;
  while (attempt->part < task->nparts
         && attempt->part_offset == task->parts[attempt->part].nbytes) {
    attempt->part++;
    attempt->part_offset = 0;
  }
}

static size_t
on_read (char *to, size_t size, size_t n, void *data)
{
  struct rd_http_attempt *attempt = data;
  const struct rd_http_task *task = attempt->task;
  size_t room = size * n, nbytes = 0;
  skip_parts_that_end (attempt);
  while (nbytes < room && attempt->part < task->nparts) {
    const struct rd_part *part = &task->parts[attempt->part];
    size_t most = rd_min_u64 (room - nbytes,
                              part->nbytes - attempt->part_offset);
    memcpy (to + nbytes, (const char *) part->data + attempt->part_offset,
            most);
    nbytes += most;
    attempt->part_offset += most;
    skip_parts_that_end (attempt);
  }
  attempt->sent_nbytes += nbytes;
  attempt->heard_ns = rd_http_now ();
  if (attempt->part == task->nparts)
    radio_async_phase (task->request, &first_byte_site);
  return nbytes;
}

/* libcurl begins again by itself where a connection that it kept turns out
 * to be closed. */
static int
on_seek (void *data, curl_off_t offset, int origin)
{
  struct rd_http_attempt *attempt = data;
  if (origin != SEEK_SET || offset != 0)
    return CURL_SEEKFUNC_CANTSEEK;
  attempt->part = attempt->part_offset = 0;
  return CURL_SEEKFUNC_OK;
}

/* A POST is sent as a PUT of another name: so libcurl claims no type of its
 * own for the body. */
bool
rd_http_send_set (struct rd_http_attempt *attempt)
{
  const struct rd_http_task *task = attempt->task;
  CURL *easy = attempt->easy;
  CURLcode code = CURLE_OK;
#define SET(option, value) \
  code = code == CURLE_OK ? curl_easy_setopt (easy, option, value) : code
  SET (CURLOPT_HTTPHEADER, attempt->headers);
  SET (CURLOPT_NOBODY, (long) (task->method == RD_HTTP_HEAD));
  if (task->range[0] && task->method == RD_HTTP_GET)
    SET (CURLOPT_RANGE, task->range);
  if (has_body (task)) {
    SET (CURLOPT_UPLOAD, 1L);
    SET (CURLOPT_UPLOAD_BUFFERSIZE, SEND_NBYTES);
    SET (CURLOPT_INFILESIZE_LARGE, (curl_off_t) body_nbytes (task));
    SET (CURLOPT_READFUNCTION, on_read);
    SET (CURLOPT_READDATA, attempt);
    SET (CURLOPT_SEEKFUNCTION, on_seek);
    SET (CURLOPT_SEEKDATA, attempt);
  }
  if (task->method == RD_HTTP_POST || task->method == RD_HTTP_DELETE)
    SET (CURLOPT_CUSTOMREQUEST, rd_http_method_name (task->method));
#undef SET
  return code == CURLE_OK;
}
