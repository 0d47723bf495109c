/* SPDX-License-Identifier: MIT */
/* A request that its caller waits for, by an engine of its own. */
#include <config.h>

#include <curl/curl.h>
#include <string.h>

#include "src/base/error.h"
#include "io/s3/ask.h"
#include "io/s3/file.h"
#include "io/s3/headers.h"

struct asked {
  struct rd_http_task task;   /* the first: it is cast */
  const struct rd_s3_question *question;
  struct rd_part part;
};

bool
rd_s3_is_line (const char *text)
{
  for (const unsigned char *p = (const unsigned char *) text; *p; p++)
    if (*p < 0x20 || *p == 0x7f)
      return false;
  return true;
}

/*------------------------------------------------------------------------
 * What is sent
 *----------------------------------------------------------------------*/

/* What libcurl will send as the host, and the path. */
struct place {
  CURLU *url;
  char *host, *port, *path;
  struct rd_buffer sent_host;
};

static void
cleanup_place (struct place *place)
{
  curl_free (place->host);
  curl_free (place->port);
  curl_free (place->path);
  curl_url_cleanup (place->url);
  rd_buffer_free (&place->sent_host);
}

static enum radio_status
find_place (const char *text, struct place *place)
{
  place->url = curl_url ();
  if (place->url == NULL
      || curl_url_set (place->url, CURLUPART_URL, text, CURLU_PATH_AS_IS)
      || curl_url_get (place->url, CURLUPART_HOST, &place->host, 0)
      || curl_url_get (place->url, CURLUPART_PATH, &place->path, 0))
    return rd_fail (RADIO_ERROR_ARGUMENT, "not an address");
  (void) curl_url_get (place->url, CURLUPART_PORT, &place->port,
                       CURLU_NO_DEFAULT_PORT);
  RD_TRY (rd_s3_append (&place->sent_host, place->host));
  if (place->port) {
    RD_TRY (rd_s3_append (&place->sent_host, ":"));
    RD_TRY (rd_s3_append (&place->sent_host, place->port));
  }
  return rd_s3_append_end (&place->sent_host);
}

static enum radio_status
add_signature (const struct asked *asked, struct rd_http_headers *headers)
{
  const struct rd_s3_question *question = asked->question;
  RD_CLEANUP (cleanup_place) struct place place = { 0 };
  char sha256[RD_S3_SHA256_NBYTES];
  RD_TRY (find_place (question->url, &place));
  RD_TRY (rd_s3_sha256 (&asked->part, 1, sha256));
  const struct rd_s3_request request = {
    .method = rd_http_method_name (question->method),
    .host = (const char *) place.sent_host.data, .path = place.path,
    .headers = question->headers, .nheaders = question->nheaders,
    .payload_sha256 = sha256,
  };
  return rd_s3_add_signature (headers, question->signing, &request);
}

static enum radio_status
prepare (struct rd_http_task *task, struct rd_http_headers *headers)
{
  const struct asked *asked = (const struct asked *) task;
  const struct rd_s3_question *question = asked->question;
  RD_TRY (rd_s3_add_headers (headers, question->headers,
                             question->nheaders));
  return question->signing ? add_signature (asked, headers) : RADIO_OK;
}

/*------------------------------------------------------------------------
 * What comes back
 *----------------------------------------------------------------------*/

static enum radio_status
conclude (struct rd_http_task *task, const struct rd_buffer *problem,
          enum rd_http_next *next)
{
  unsigned status = task->answer.status;
  if (rd_http_is_good (status))
    return RADIO_OK;
  if (status == 429 || status >= 500) {
    *next = RD_HTTP_LATER;
    return rd_fail (RADIO_ERROR_IO, "%s: answered with status %u",
                    rd_http_name (task), status);
  }
  task->into->nbytes = 0;
  return rd_buffer_append (task->into, problem->data, problem->nbytes);
}

RD_DEFINE_CLEANUP (http, struct rd_http, rd_http_close);

static enum radio_status
ask (struct asked *asked)
{
  const struct rd_s3_question *question = asked->question;
  const struct rd_http_options options = {
    .nconnections = 1, .nattempts = question->nattempts,
    .connect_timeout_ms = question->timeout_ms,
    .first_byte_timeout_ms = question->timeout_ms,
    .stall_timeout_ms = question->timeout_ms,
    .deadline_ms = 2 * question->timeout_ms * question->nattempts,
    .ca_file = question->ca_file,
  };
  RD_CLEANUP (rd_cleanup_http) struct rd_http *http = NULL;
  RD_TRY (rd_http_open (&options, &http));
  return rd_http_run (http, &asked->task);
}

enum radio_status
rd_s3_ask (const struct rd_s3_question *question, struct rd_buffer *answer,
           unsigned *status)
{
  const char *body = question->body;
  struct asked asked = {
    .task = {
      .url = question->url, .name = question->what,
      .method = question->method, .into = answer,
      .is_repeatable = true, .prepare = prepare, .conclude = conclude,
      .max_nbytes = RD_S3_MAX_ANSWER_NBYTES,
      .nparts = body ? 1 : 0,
    },
    .question = question,
    .part = { body, body ? strlen (body) : 0 },
  };
  asked.task.parts = &asked.part;
  RD_TRY (rd_buffer_reserve (answer, RD_S3_MAX_ANSWER_NBYTES));
  RD_TRY (ask (&asked));
  *status = asked.task.answer.status;
  return RADIO_OK;
}
