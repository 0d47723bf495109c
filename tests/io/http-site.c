/* SPDX-License-Identifier: MIT */
/* The fixture of tests of the HTTP engine. */
#include <config.h>

#include <radio/profile.h>

#include "tests/io/http-site.h"
#include "tests/io/store-asserts.h"

int
http_site_set_up (void **state, const struct rd_http_options *options)
{
  struct http_site *site = calloc (1, sizeof *site);
  assert_non_null (site);
  assert_ok (rd_io_open ("memory:", false, &site->objects));
  put_text (site->objects, "key", "quick");
  site->peer = http_peer_start (site->objects);
  snprintf (site->url, sizeof site->url, "%s/key",
            http_peer_url (site->peer));
  assert_ok (rd_http_open (options, &site->http));
  *state = site;
  return 0;
}

int
http_site_tear_down (void **state)
{
  struct http_site *site = *state;
  rd_http_close (site->http);
  http_peer_stop (site->peer);
  rd_io_close (site->objects);
  free (site->texts[0]);
  free (site->texts[1]);
  free (site);
  return 0;
}

void
http_site_reopen (struct http_site *site,
                  const struct rd_http_options *options)
{
  rd_http_close (site->http);
  assert_ok (rd_http_open (options, &site->http));
}

static void
end (struct rd_http_task *task)
{
  struct http_job *job = (struct http_job *) task;
  radio_async_end (task->request);
  RD_LOCK_SCOPE (&job->mutex);
  job->is_done = true;
  pthread_cond_signal (&job->ended);
}

void
http_job_submit (struct http_site *site, struct http_job *job)
{
  job->site = site;
  job->is_done = false;
  job->task.done = end;
  if (!job->task.url)
    job->task.url = site->url;
  assert_ok (rd_http_submit (site->http, &job->task));
}

enum radio_status
http_job_await (struct http_job *job)
{
  RD_LOCK_SCOPE (&job->mutex);
  while (!job->is_done)
    pthread_cond_wait (&job->ended, &job->mutex);
  return rd_error_raise (&job->task.error);
}

enum radio_status
http_job_run (struct http_site *site, struct http_job *job)
{
  http_job_submit (site, job);
  return http_job_await (job);
}

void
http_job_free (struct http_job *job)
{
  rd_buffer_free (&job->into);
}
