/* SPDX-License-Identifier: MIT */
/* A data-loading pipeline, as for training: threads load patches at random
 * places and normalise them; the main thread waits for each batch.  All of it
 * is recorded as one call tree across all threads, with the library's scopes
 * inside the program's own.  The suffix of PROFILE chooses the format.
 *
 *   pipeline STORE VOLUME PROFILE.html
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <radio/radio.h>

enum { NTHREADS = 3, NBATCHES = 6, NPATCHES = 8, SIZE = 24 };

/* The batch being filled.  The mutex guards all fields except the patches:
 * only one thread at a time uses each patch. */
struct batch {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct radio_volume *volume;
  struct radio_handoff parent;  /* the scope of the batch */
  int nbegun, ndone, number;    /* number == NBATCHES: threads end */
  float patches[NPATCHES][SIZE * SIZE * SIZE];
  char message[256];            /* of the first failure, else "" */
};

static enum radio_status
read_patch (struct radio_volume *volume, unsigned *random, float *patch)
{
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  struct radio_box box = { .rank = info.array.rank };
  for (size_t i = 0; i < box.rank; i++) {
    uint64_t whole = info.array.shape[i];
    box.size[i] = i + 3 < box.rank ? 1 : whole < SIZE ? whole : SIZE;
    *random = *random * 1664525 + 1013904223;
    box.start[i] = (*random >> 8) % (whole - box.size[i] + 1);
  }
  const struct radio_read_options options = { .scaled = true };
  return radio_volume_read (volume, &box, RADIO_FLOAT32, patch,
                            sizeof ((struct batch *) 0)->patches[0],
                            &options);
}

/* Has a scope of its own, whose counter is shown in every view. */
static void
normalise (float *patch)
{
  RADIO_SCOPE ("normalise");
  double sum = 0, squares = 0;
  const int n = SIZE * SIZE * SIZE;
  for (int i = 0; i < n; i++) {
    sum += patch[i];
    squares += (double) patch[i] * patch[i];
  }
  double mean = sum / n, deviation = sqrt (fabs (squares / n - mean * mean));
  for (int i = 0; i < n; i++)
    patch[i] = (float) ((patch[i] - mean) / (deviation + 1e-6));
  RADIO_COUNT ("voxels normalised", "count", (uint64_t) n);
}

/* Loads one patch on any thread.  The scope is a child of the batch's, and the
 * time since the batch began is shown as queue time. */
static void
load_patch (struct batch *batch, int i, unsigned *random)
{
  enum radio_status status;
  {
    RADIO_SCOPE_RECEIVED (&batch->parent, "load patch");
    status = read_patch (batch->volume, random, batch->patches[i]);
    if (status == RADIO_OK)
      normalise (batch->patches[i]);
  }

  pthread_mutex_lock (&batch->mutex);
  if (status != RADIO_OK && batch->message[0] == '\0')
    snprintf (batch->message, sizeof batch->message, "%s",
              radio_error_message ());
  batch->ndone++;
  pthread_cond_broadcast (&batch->changed);
  pthread_mutex_unlock (&batch->mutex);
}

static void *
run_loader (void *argument)
{
  struct batch *batch = argument;
  unsigned random = 1;
  radio_thread_name ("loader");
  pthread_mutex_lock (&batch->mutex);
  while (batch->number < NBATCHES) {
    if (batch->nbegun == NPATCHES) {
      pthread_cond_wait (&batch->changed, &batch->mutex);
      continue;
    }
    int i = batch->nbegun++;
    random += (unsigned) (batch->number * NPATCHES + i);
    pthread_mutex_unlock (&batch->mutex);
    load_patch (batch, i, &random);
    pthread_mutex_lock (&batch->mutex);
  }
  pthread_mutex_unlock (&batch->mutex);
  return NULL;
}

/* Begins a batch and waits for it: a numbered step, so that the page can say
 * why one was slow. */
static void
run_batch (struct batch *batch)
{
  RADIO_STEP ((uint64_t) batch->number);
  pthread_mutex_lock (&batch->mutex);
  radio_handoff_give (&batch->parent);
  batch->nbegun = batch->ndone = 0;
  pthread_cond_broadcast (&batch->changed);
  {
    RADIO_SCOPE_FULL ("wait for patches", "queue", RADIO_SCOPE_WAIT);
    while (batch->ndone < NPATCHES)
      pthread_cond_wait (&batch->changed, &batch->mutex);
  }
  radio_handoff_release (&batch->parent);
  batch->number++;
  pthread_cond_broadcast (&batch->changed);
  pthread_mutex_unlock (&batch->mutex);
}

static int
run_pipeline (struct batch *batch)
{
  RADIO_SCOPE ("pipeline");
  pthread_t threads[NTHREADS];
  batch->nbegun = NPATCHES;     /* nothing to do yet */
  for (int i = 0; i < NTHREADS; i++)
    if (pthread_create (&threads[i], NULL, run_loader, batch) != 0)
      abort ();
  for (int i = 0; i < NBATCHES; i++)
    run_batch (batch);
  for (int i = 0; i < NTHREADS; i++)
    pthread_join (threads[i], NULL);
  if (batch->message[0] != '\0')
    fprintf (stderr, "pipeline: %s\n", batch->message);
  return batch->message[0] != '\0';
}

static int
fail (void)
{
  fprintf (stderr, "pipeline: %s\n", radio_error_message ());
  return EXIT_FAILURE;
}

static struct radio_volume *
open_volume (const char *path, const char *name)
{
  struct radio_store *store;
  struct radio_volume *volume;
  if (radio_store_open (path, NULL, &store) != RADIO_OK)
    return NULL;
  enum radio_status status = radio_volume_open (store, name, &volume);
  radio_store_close (store);
  return status == RADIO_OK ? volume : NULL;
}

int
main (int argc, char **argv)
{
  static struct batch batch = { .mutex = PTHREAD_MUTEX_INITIALIZER,
                                .changed = PTHREAD_COND_INITIALIZER };
  /* Records all threads: no handoff starts the loaders. */
  const struct radio_recorder_options options = { .whole_process = true,
                                                  .title = "a pipeline" };
  struct radio_recorder *recorder;
  struct radio_profile *profile;
  if (argc != 4) {
    fputs ("usage: pipeline STORE VOLUME PROFILE.html\n", stderr);
    return 2;
  }
  batch.volume = open_volume (argv[1], argv[2]);
  if (batch.volume == NULL)
    return fail ();
  if (radio_recorder_start (&options, &recorder) != RADIO_OK)
    return fail ();
  int failed = run_pipeline (&batch);
  radio_volume_close (batch.volume);
  if (radio_recorder_stop (recorder, &profile) != RADIO_OK)
    return fail ();
  enum radio_status status = radio_profile_write (profile, argv[3], NULL);
  radio_profile_close (profile);
  if (status != RADIO_OK)
    return fail ();
  printf ("%d patches; the profile is in %s\n", NBATCHES * NPATCHES,
          argv[3]);
  return failed;
}
