/* SPDX-License-Identifier: MIT */
/* The thread that makes the profiles of slow runs. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "src/base/buffer.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/thread.h"
#include "profiler/model/format.h"
#include "profiler/record/collect.h"
#include "profiler/record/process.h"
#include "profiler/record/slow.h"
#include "profiler/record/snapshot.h"
#include "profiler/record/writer.h"

/* The triggers that the calling thread writes for. */
static _Thread_local const struct rd_slow *own;

/* The profile that it reports was not written. */
static _Thread_local bool has_failed;

void
rd_slow_fail (void)
{
  has_failed = true;
}

/* "main / read": names down to a node. */
static enum radio_status
add_path (struct radio_profile *profile, const struct radio_profile *whole,
          uint32_t node)
{
  RD_BUFFER_SCOPE struct rd_buffer path = { 0 };
  RD_FREE_PLAIN uint32_t *above
    = calloc (RD_MAX_NODE_DEPTH, sizeof *above);
  size_t n = 0;
  if (!above)
    return rd_fail_memory (RD_MAX_NODE_DEPTH * sizeof *above);
  for (size_t i = node; i != RADIO_NO_PARENT && n < RD_MAX_NODE_DEPTH;
       i = whole->nodes.at[i].parent)
    above[n++] = (uint32_t) i;
  while (n-- > 0) {
    const char *name = whole->nodes.at[above[n]].name;
    RD_TRY (rd_buffer_append (&path, name, strlen (name)));
    RD_TRY (rd_buffer_append (&path, " / ", n > 0 ? 3 : 0));
  }
  RD_TRY (rd_buffer_append (&path, "", 1));
  return rd_profile_add_fact (profile, RD_FACT_SLOW_PATH,
                              (const char *) path.data, false);
}

/* Completes the profile of a run by what the recorder knows of it. */
static enum radio_status
finish_profile (struct rd_slow *slow, const struct rd_slow_run *run,
                const struct radio_profile *whole, uint32_t node,
                uint64_t begin_ns, struct radio_profile *profile)
{
  const struct rd_trigger *trigger = &slow->triggers.at[run->trigger];
  char text[128];
  snprintf (text, sizeof text, "%.60s > %s%s", trigger->name,
            rd_format_ns (run->is_cpu ? trigger->cpu_ns
                                      : trigger->wall_ns).text,
            run->is_cpu ? " cpu" : "");
  RD_TRY (rd_profile_add_fact (profile, RD_FACT_SLOW_TRIGGER, text, false));
  RD_TRY (add_path (profile, whole, node));
  RD_TRY (rd_profile_add_number (profile, RD_FACT_SLOW_BEGIN, begin_ns));
  if (run->cpu_ns > 0)
    RD_TRY (rd_profile_add_number (profile, RD_FACT_SLOW_CPU, run->cpu_ns));
  struct rd_slow_counts counts = rd_slow_counts (slow);
  if (counts.dropped > 0)
    RD_TRY (rd_profile_add_number (profile, RD_FACT_SLOW_DROPPED,
                                   counts.dropped));
  return rd_profile_finalize (profile);
}

/* Sets *is_reported if the run has a profile; one that has left the ring has
 * none. */
static enum radio_status
report_run (struct rd_slow *slow, const struct radio_recorder *copied,
            const struct rd_slow_run *run, bool *is_reported)
{
  RD_PROFILE_SCOPE struct radio_profile *whole = NULL, *profile = NULL;
  const struct rd_span *span = NULL;
  uint32_t id;
  RD_TRY (rd_collect_run (copied, run, &whole, &id));
  for (size_t i = 0; id != 0 && i < whole->spans.n && !span; i++)
    if (whole->spans.at[i].id == id)
      span = &whole->spans.at[i];
  if (!span)
    return RADIO_OK;
  RD_TRY (rd_profile_of_run (whole, id, &profile));
  RD_TRY (finish_profile (slow, run, whole, span->node, span->begin_ns,
                          profile));
  has_failed = false;
  slow->report (profile, slow->user_data);
  *is_reported = !has_failed;
  return has_failed ? RADIO_ERROR_IO : RADIO_OK;
}

/* Keeps the thread's message. */
static void
note_error_synced (struct rd_slow *slow)
{
  snprintf (slow->synced.counts.error, sizeof slow->synced.counts.error,
            "%s", radio_error_message ());
}

/* Makes the profiles of some runs out of one copy of the log. */
static void
report_runs (struct radio_recorder *recorder, const struct rd_slow_run *runs,
             size_t n)
{
  struct rd_slow *slow = recorder->slow;
  RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
  struct radio_recorder *copied = NULL;
  if (rd_snapshot_recover (recorder, &copy, &copied) != RADIO_OK) {
    RD_LOCK_SCOPE (&slow->mutex);
    copied = NULL;
    note_error_synced (slow);
  }
  for (size_t i = 0; i < n; i++) {
    bool is_written = false;
    enum radio_status status = copied ? report_run (slow, copied, &runs[i],
                                                    &is_written)
                                      : RADIO_OK;
    RD_LOCK_SCOPE (&slow->mutex);
    slow->synced.counts.written += is_written;
    slow->synced.counts.dropped += !is_written;
    if (status != RADIO_OK)
      note_error_synced (slow);
  }
  if (copied)
    rd_recorder_unref (copied);
}

static void *
run_thread (void *arg)
{
  struct radio_recorder *recorder = arg;
  struct rd_slow *slow = recorder->slow;
  struct rd_slow_run *runs = slow->taken;
  own = slow;
  rd_thread_hide ();
  pthread_mutex_lock (&slow->mutex);
  for (;;) {
    while (slow->synced.n == 0 && !slow->synced.ends)
      pthread_cond_wait (&slow->changed, &slow->mutex);
    if (slow->synced.n == 0)
      break;
    size_t n = 0;
    for (; slow->synced.n > 0; slow->synced.n--) {
      runs[n++] = slow->synced.runs[slow->synced.first];
      slow->synced.first = (slow->synced.first + 1) % slow->per_minute;
    }
    pthread_mutex_unlock (&slow->mutex);
    report_runs (recorder, runs, n);
    rd_thread_charge (recorder);
    pthread_mutex_lock (&slow->mutex);
  }
  pthread_mutex_unlock (&slow->mutex);
  return NULL;
}

bool
rd_slow_is_thread (const struct radio_recorder *recorder)
{
  return own && own == recorder->slow;
}

enum radio_status
rd_slow_start (struct radio_recorder *recorder)
{
  struct rd_slow *slow = recorder->slow;
  if (!slow)
    return RADIO_OK;
  int number = rd_start_thread (&slow->thread, run_thread, recorder);
  slow->is_running = number == 0;
  return number == 0 ? RADIO_OK
                     : rd_fail_errno (number, "cannot start the thread of slow "
                                      "runs");
}

void
rd_slow_end (struct radio_recorder *recorder)
{
  struct rd_slow *slow = recorder->slow;
  if (!slow || !slow->is_running)
    return;
  pthread_mutex_lock (&slow->mutex);
  slow->synced.ends = true;
  pthread_cond_signal (&slow->changed);
  pthread_mutex_unlock (&slow->mutex);
  pthread_join (slow->thread, NULL);
  slow->is_running = false;
}
