/* SPDX-License-Identifier: MIT */
/* A volume is often a single shard, which one thread copies: so threads take
 * the volumes in turn.  What became of one is told when all before it have
 * been told of. */
#include <config.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tools/copy-volumes.h"
#include "tools/progress.h"
#include "tools/text.h"

#define MAX_JOBS 64

/* What became of a volume. */
struct outcome {
  bool is_measured, has_ended;
  enum radio_status status;
  char *message;                      /* NULL: none, or no memory for it */
  struct radio_copy_result result;
  struct radio_progress progress;
};

struct work {
  struct rd_copy_volumes *copy;
  size_t path_width;
  pthread_mutex_t mutex;
  struct {
    size_t next;                      /* the first volume nobody took */
    size_t ntold, nmeasured;
    bool is_stopped;
    struct outcome *outcomes;
    struct rd_progress progress;
    uint64_t done_nbytes, total_nbytes;       /* of those measured */
  } synced;
};

/* A volume under way, on one thread. */
struct job {
  struct work *work;
  size_t i;
};

/* Of volumes that were not measured yet the mean of the others is taken. */
static void
draw_synced (struct work *work, const struct rd_copy_item *item)
{
  double mean = (double) work->synced.total_nbytes
                / (double) work->synced.nmeasured;
  double total = mean * (double) work->copy->n;
  rd_progress_update (&work->synced.progress, item->to_path,
                      work->synced.done_nbytes, (uint64_t) total);
}

static enum radio_status
on_progress (const struct radio_progress *p, void *user_data)
{
  struct job *job = user_data;
  struct work *work = job->work;
  if (*work->copy->interrupted_by)
    return RADIO_ERROR_CANCELLED;
  pthread_mutex_lock (&work->mutex);
  struct outcome *outcome = &work->synced.outcomes[job->i];
  work->synced.nmeasured += !outcome->is_measured;
  outcome->is_measured = true;
  work->synced.total_nbytes += p->total_nbytes
                               - outcome->progress.total_nbytes;
  work->synced.done_nbytes += p->done_nbytes - outcome->progress.done_nbytes;
  outcome->progress = *p;
  draw_synced (work, &work->copy->items[job->i]);
  pthread_mutex_unlock (&work->mutex);
  return RADIO_OK;
}

static void
tell_done (const struct work *work, const struct rd_copy_item *item,
           const struct radio_copy_result *result)
{
  char sent[RD_TEXT_NBYTES], there[RD_TEXT_NBYTES];
  const struct rd_copy_volumes *copy = work->copy;
  if (copy->quiet)
    return;
  rd_text_print (stdout, item->to_path);
  printf ("%*s  ", (int) (work->path_width - rd_text_columns (item->to_path)),
          "");
  if (result->skipped) {
    puts ("skipped: is there already");
    return;
  }
  printf ("%8s %s", rd_text_size (result->sent_nbytes, sent),
          copy->options.dry_run ? "to send" : "sent");
  if (result->there_nbytes > 0)
    printf (", %s there already",
            rd_text_size (result->there_nbytes, there));
  putchar ('\n');
}

static void
complain (const struct work *work, const struct rd_copy_item *item,
          const struct outcome *outcome)
{
  const char *message = outcome->message ? outcome->message
                                         : "out of memory";
  bool is_interrupted = outcome->status == RADIO_ERROR_CANCELLED
                        && *work->copy->interrupted_by;
  if (is_interrupted)
    rd_error ("%s: interrupted; the same command goes on from there",
              item->to_path);
  else if (outcome->status == RADIO_ERROR_EXISTS
           && strstr (message, "exists already"))
    rd_error ("%s: is there already (see --skip-existing and "
              "--overwrite)", item->to_path);
  else
    rd_error_message (item->to_path, message);
}

/* Tell of one volume that ended. */
static void
tell_volume (struct work *work, size_t i)
{
  struct rd_copy_volumes *copy = work->copy;
  const struct outcome *outcome = &work->synced.outcomes[i];
  rd_progress_clear (&work->synced.progress);
  copy->sent_nbytes += outcome->result.sent_nbytes;
  copy->there_nbytes += outcome->result.there_nbytes;
  if (outcome->status != RADIO_OK) {
    copy->nfailed++;
    complain (work, &copy->items[i], outcome);
    return;
  }
  tell_done (work, &copy->items[i], &outcome->result);
  copy->nskipped += outcome->result.skipped;
  copy->ncopied += !outcome->result.skipped;
}

static void
end_volume_synced (struct work *work, struct outcome *outcome)
{
  if (outcome->status == RADIO_ERROR_NO_SPACE
      || *work->copy->interrupted_by)
    work->synced.is_stopped = true;
  outcome->has_ended = true;
  while (work->synced.ntold < work->synced.next
         && work->synced.outcomes[work->synced.ntold].has_ended)
    tell_volume (work, work->synced.ntold++);
}

static enum radio_status
copy_volume (struct job *job, struct radio_copy_result *result)
{
  const struct rd_copy_volumes *copy = job->work->copy;
  const struct rd_copy_item *item = &copy->items[job->i];
  struct radio_copy_options options = copy->options;
  options.progress = on_progress;
  options.user_data = job;
  return radio_volume_copy (item->from, item->path, copy->to, item->to_path,
                            &options, result);
}

/* Copy the volumes that nobody took yet, one after the other. */
static void *
run_jobs (void *argument)
{
  struct work *work = argument;
  pthread_mutex_lock (&work->mutex);
  while (work->synced.next < work->copy->n && !work->synced.is_stopped) {
    struct job job = { work, work->synced.next++ };
    struct outcome *outcome = &work->synced.outcomes[job.i];
    struct radio_copy_result result = { 0 };
    pthread_mutex_unlock (&work->mutex);
    enum radio_status status = copy_volume (&job, &result);
    char *message = status == RADIO_OK ? NULL
                                       : strdup (radio_error_message ());
    pthread_mutex_lock (&work->mutex);
    outcome->status = status;
    outcome->result = result;
    outcome->message = message;
    end_volume_synced (work, outcome);
  }
  pthread_mutex_unlock (&work->mutex);
  return NULL;
}

static size_t
count_jobs (const struct rd_copy_volumes *copy)
{
  long nprocessors = sysconf (_SC_NPROCESSORS_ONLN);
  size_t n = copy->nthreads ? copy->nthreads
    : nprocessors > 0 ? (size_t) nprocessors : 1;
  if (n > copy->n)
    n = copy->n;
  if (n > MAX_JOBS)
    n = MAX_JOBS;
  return n > 0 ? n : 1;
}

/* The calling thread is one of them; when others cannot be had, it does
 * their work. */
static void
run_all (struct work *work)
{
  pthread_t threads[MAX_JOBS];
  size_t n = count_jobs (work->copy), nstarted = 0;
  while (nstarted + 1 < n
         && pthread_create (&threads[nstarted], NULL, run_jobs, work) == 0)
    nstarted++;
  run_jobs (work);
  for (size_t i = 0; i < nstarted; i++)
    pthread_join (threads[i], NULL);
}

static void
measure_names (struct work *work)
{
  for (size_t i = 0; i < work->copy->n; i++) {
    size_t width = rd_text_columns (work->copy->items[i].to_path);
    if (width > work->path_width)
      work->path_width = width;
  }
}

void
rd_copy_volumes (struct rd_copy_volumes *copy)
{
  struct work work = { .copy = copy };
  work.synced.outcomes = calloc (copy->n + 1, sizeof *work.synced.outcomes);
  if (work.synced.outcomes == NULL) {
    rd_error_memory ();
    copy->nfailed++;
    return;
  }
  pthread_mutex_init (&work.mutex, NULL);
  measure_names (&work);
  rd_progress_start (&work.synced.progress, "copied");
  run_all (&work);
  rd_progress_clear (&work.synced.progress);
  copy->seconds = rd_clock_s () - work.synced.progress.start_s;
  pthread_mutex_destroy (&work.mutex);
  for (size_t i = 0; i < copy->n; i++)
    free (work.synced.outcomes[i].message);
  free (work.synced.outcomes);
}

bool
rd_copy_add (struct rd_copy_volumes *copy, struct radio_store *from,
             const char *path, const char *to_path)
{
  if (copy->n == copy->capacity) {
    size_t capacity = copy->capacity ? 2 * copy->capacity : 64;
    struct rd_copy_item *items = reallocarray (copy->items, capacity,
                                               sizeof *items);
    if (items == NULL)
      return rd_error_memory (), false;
    copy->items = items;
    copy->capacity = capacity;
  }
  struct rd_copy_item *item = &copy->items[copy->n++];
  *item = (struct rd_copy_item) { from, strdup (path),
                                  strdup (to_path ? to_path : path) };
  if (item->path == NULL || item->to_path == NULL)
    return rd_error_memory (), false;
  return true;
}

void
rd_copy_clear (struct rd_copy_volumes *copy)
{
  for (size_t i = 0; i < copy->n; i++) {
    free (copy->items[i].path);
    free (copy->items[i].to_path);
  }
  free (copy->items);
}
