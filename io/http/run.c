/* SPDX-License-Identifier: MIT */
/* Tasks that their caller waits for. */
#include <config.h>

#include "profiler/counters.h"
#include "io/http/http.h"
#include "io/waiter.h"

static void
wake (struct rd_http_task *task)
{
  radio_async_end (task->request);
  rd_waiter_wake (task->user_data);
}

enum radio_status
rd_http_run (struct rd_http *http, struct rd_http_task *task)
{
  struct rd_waiter waiter = RD_WAITER_INIT;
  task->done = wake;
  task->user_data = &waiter;
  enum radio_status status = rd_http_submit (http, task);
  if (status != RADIO_OK) {
    radio_async_end (task->request);
    return status;
  }
  rd_waiter_wait (&waiter);
  return rd_error_raise (&task->error);
}
