/* SPDX-License-Identifier: MIT */
/* One thread inflates a file while the library's workers encode: that keeps
 * two processors busy at best, and none while a small volume is made
 * durable.  So threads take the files in turn.  What became of a file is told
 * when all before it have been told of. */
#include <config.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tools/ingest-files.h"
#include "tools/progress.h"
#include "tools/text.h"

/* What the layers of one file under way take, generously, and how much of
 * the memory may be taken by such. */
#define FILE_MEMORY_NBYTES ((uint64_t) 64 << 20)
#define DEFAULT_MEMORY_NBYTES ((uint64_t) 1 << 30)

#define MAX_JOBS 64

/* What became of a file. */
struct outcome {
  bool ended;
  enum radio_status status;
  char *message;                      /* NULL: none, or no memory for it */
  struct radio_ingest_result result;
  uint64_t nbytes, taken_nbytes;      /* of the file, as it is known now */
};

struct work {
  struct rd_ingest_files *ingest;
  size_t path_width;
  pthread_mutex_t mutex;
  struct {
    size_t next;                      /* the first file nobody took */
    size_t ntold;
    bool stopped;
    struct outcome *outcomes;
    struct rd_progress progress;
    /* Of the files as they lie on the disk; skipped and failed ones are
     * taken out of both, so that they do not count as work done. */
    uint64_t taken_nbytes, total_nbytes;
  } synced;
};

/* A file under way, on one thread. */
struct job {
  struct work *work;
  const struct rd_file *file;
  struct outcome *outcome;
};

/* Of a pair, the file that was named may be the small half: what is read
 * decides, so the whole is corrected when it becomes known. */
static enum radio_status
on_progress (const struct radio_progress *p, void *user_data)
{
  struct job *job = user_data;
  struct work *work = job->work;
  struct outcome *outcome = job->outcome;
  if (*work->ingest->interrupted_by)
    return RADIO_ERROR_CANCELLED;
  pthread_mutex_lock (&work->mutex);
  work->synced.total_nbytes += p->total_nbytes - outcome->nbytes;
  work->synced.taken_nbytes += p->done_nbytes - outcome->taken_nbytes;
  outcome->nbytes = p->total_nbytes;
  outcome->taken_nbytes = p->done_nbytes;
  rd_progress_update (&work->synced.progress, job->file->path,
                      work->synced.taken_nbytes, work->synced.total_nbytes);
  pthread_mutex_unlock (&work->mutex);
  return RADIO_OK;
}

static void
on_warning (const char *message, void *user_data)
{
  const struct job *job = user_data;
  struct work *work = job->work;
  const char *name = job->file->name;
  pthread_mutex_lock (&work->mutex);
  rd_progress_clear (&work->synced.progress);
  if (strstr (message, name) != NULL) {
    rd_warn (message);
  } else {
    RD_FREE char *text = rd_format ("%s: %s", name, message);
    rd_warn (text ? text : message);
  }
  pthread_mutex_unlock (&work->mutex);
}

/* Files with bad names were told apart by rd_files_settle; the message is
 * made again here, in the order of the files. */
static enum radio_status
ingest_file (struct job *job, struct radio_ingest_result *result)
{
  const struct rd_ingest_files *ingest = job->work->ingest;
  const struct rd_file *file = job->file;
  struct radio_ingest_options options = ingest->options;
  RD_FREE char *unused = NULL;
  if (file->path == NULL)
    return radio_ingest_path (file->name, ingest->collection, &unused);
  options.progress = on_progress;
  options.warning = on_warning;
  options.user_data = job;
  return radio_ingest (ingest->store, file->name, file->path, &options,
                       result);
}

static void
tell_done (const struct work *work, const struct rd_file *file,
           const struct radio_ingest_result *result)
{
  char raw[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES], ratio[RD_TEXT_NBYTES];
  const char *path = file->path;
  if (work->ingest->quiet)
    return;
  rd_text_print (stdout, path);
  printf ("%*s", (int) (work->path_width - rd_text_columns (path)), "");
  if (result->skipped)
    puts ("  skipped: is there already");
  else
    printf ("  %8s -> %8s  %8s\n",
            rd_text_size (result->source_nbytes, raw),
            rd_text_size (result->stored_nbytes, stored),
            rd_text_ratio (result->source_nbytes, result->stored_nbytes,
                           ratio));
}

static void
complain (const struct work *work, const struct rd_file *file,
          const struct outcome *outcome)
{
  if (outcome->status == RADIO_ERROR_CANCELLED
      && *work->ingest->interrupted_by)
    rd_error ("%s: interrupted, nothing of it was kept", file->name);
  else if (outcome->status == RADIO_ERROR_EXISTS)
    rd_error ("%s: %s is there already (see --skip-existing and "
              "--overwrite)", file->name, file->path);
  else
    rd_error_message (file->name, outcome->message ? outcome->message
                                                   : "out of memory");
}

/* Tell of one file that ended. */
static void
tell_file (struct work *work, size_t i)
{
  struct rd_ingest_files *ingest = work->ingest;
  const struct rd_file *file = &ingest->files->list[i];
  const struct outcome *outcome = &work->synced.outcomes[i];
  rd_progress_clear (&work->synced.progress);
  if (outcome->status != RADIO_OK) {
    ingest->nfailed++;
    complain (work, file, outcome);
    return;
  }
  tell_done (work, file, &outcome->result);
  ingest->nskipped += outcome->result.skipped;
  ingest->ningested += !outcome->result.skipped;
  ingest->read_nbytes += outcome->result.skipped ? 0 : outcome->nbytes;
  ingest->source_nbytes += outcome->result.source_nbytes;
  ingest->stored_nbytes += outcome->result.stored_nbytes;
}

static void
end_file_synced (struct work *work, struct outcome *outcome)
{
  bool is_read = outcome->status == RADIO_OK && !outcome->result.skipped;
  if (is_read) {
    work->synced.taken_nbytes += outcome->nbytes - outcome->taken_nbytes;
  } else {
    work->synced.taken_nbytes -= outcome->taken_nbytes;
    work->synced.total_nbytes -= outcome->nbytes;
  }
  if (outcome->status == RADIO_ERROR_NO_SPACE
      || *work->ingest->interrupted_by)
    work->synced.stopped = true;
  outcome->ended = true;
  while (work->synced.ntold < work->synced.next
         && work->synced.outcomes[work->synced.ntold].ended)
    tell_file (work, work->synced.ntold++);
}

/* Ingest the files that nobody took yet, one after the other. */
static void *
run_jobs (void *argument)
{
  struct work *work = argument;
  const struct rd_files *files = work->ingest->files;
  pthread_mutex_lock (&work->mutex);
  while (work->synced.next < files->n && !work->synced.stopped) {
    size_t i = work->synced.next++;
    struct outcome *outcome = &work->synced.outcomes[i];
    struct job job = { work, &files->list[i], outcome };
    struct radio_ingest_result result = { 0 };
    pthread_mutex_unlock (&work->mutex);
    enum radio_status status = ingest_file (&job, &result);
    char *message = status == RADIO_OK ? NULL
                                       : strdup (radio_error_message ());
    pthread_mutex_lock (&work->mutex);
    outcome->status = status;
    outcome->result = result;
    outcome->message = message;
    end_file_synced (work, outcome);
  }
  pthread_mutex_unlock (&work->mutex);
  return NULL;
}

/* As many files at a time as there are threads to work with and memory for
 * their layers. */
static size_t
count_jobs (const struct rd_ingest_files *ingest)
{
  long nprocessors = sysconf (_SC_NPROCESSORS_ONLN);
  uint64_t memory_nbytes = ingest->memory_nbytes ? ingest->memory_nbytes
                                                 : DEFAULT_MEMORY_NBYTES;
  uint64_t n = ingest->nthreads ? ingest->nthreads
    : nprocessors > 0 ? (uint64_t) nprocessors : 1;
  if (n > memory_nbytes / FILE_MEMORY_NBYTES)
    n = memory_nbytes / FILE_MEMORY_NBYTES;
  if (n > ingest->files->n)
    n = ingest->files->n;
  if (n > MAX_JOBS)
    n = MAX_JOBS;
  return n > 0 ? (size_t) n : 1;
}

/* The calling thread is one of them; when others cannot be had, it does
 * their work. */
static void
run_all (struct work *work)
{
  pthread_t threads[MAX_JOBS];
  size_t n = count_jobs (work->ingest), nstarted = 0;
  while (nstarted + 1 < n
         && pthread_create (&threads[nstarted], NULL, run_jobs, work) == 0)
    nstarted++;
  run_jobs (work);
  for (size_t i = 0; i < nstarted; i++)
    pthread_join (threads[i], NULL);
}

static void
measure (struct work *work)
{
  const struct rd_files *files = work->ingest->files;
  for (size_t i = 0; i < files->n; i++) {
    const struct rd_file *file = &files->list[i];
    size_t width = file->path ? rd_text_columns (file->path) : 0;
    work->synced.outcomes[i].nbytes = file->nbytes;
    work->synced.total_nbytes += file->nbytes;
    if (width > work->path_width)
      work->path_width = width;
  }
}

void
rd_ingest_files (struct rd_ingest_files *ingest)
{
  size_t n = ingest->files->n;
  struct work work = { .ingest = ingest };
  work.synced.outcomes = calloc (n, sizeof *work.synced.outcomes);
  if (work.synced.outcomes == NULL) {
    rd_error_memory ();
    ingest->nfailed++;
    return;
  }
  pthread_mutex_init (&work.mutex, NULL);
  measure (&work);
  rd_progress_start (&work.synced.progress, "read");
  run_all (&work);
  rd_progress_clear (&work.synced.progress);
  ingest->seconds = rd_clock_s () - work.synced.progress.start_s;
  pthread_mutex_destroy (&work.mutex);
  for (size_t i = 0; i < n; i++)
    free (work.synced.outcomes[i].message);
  free (work.synced.outcomes);
}
