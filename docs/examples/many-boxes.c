/* SPDX-License-Identifier: MIT */
/* Reads boxes at random places from several threads, as a training loop does.
 * All threads share one volume handle, and each reads a batch of boxes per
 * call.
 *
 *   many-boxes STORE VOLUME
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <radio/radio.h>

enum { NTHREADS = 4, NBATCHES = 8, NBOXES = 4, SIZE = 16 };

struct reader {
  pthread_t thread;
  struct radio_volume *volume;
  struct radio_volume_info info;
  uint64_t random;
  double sum;
  enum radio_status status;
  char message[1024];         /* each thread has its own message */
};

static uint64_t
draw (struct reader *reader, uint64_t below)
{
  reader->random = reader->random * UINT64_C (6364136223846793005)
                   + UINT64_C (1442695040888963407);
  return (reader->random >> 33) % below;
}

/* Returns a box of at most SIZE elements on each axis. */
static struct radio_box
draw_box (struct reader *reader)
{
  struct radio_box box = { .rank = reader->info.array.rank };
  for (size_t i = 0; i < box.rank; i++) {
    uint64_t whole = reader->info.array.shape[i];
    box.size[i] = whole < SIZE ? whole : SIZE;
    box.start[i] = draw (reader, whole - box.size[i] + 1);
  }
  return box;
}

static enum radio_status
read_batch (struct reader *reader, float *voxels, size_t box_count)
{
  struct radio_request requests[NBOXES] = { 0 };
  size_t room = box_count / NBOXES;
  for (int i = 0; i < NBOXES; i++) {
    requests[i].box = draw_box (reader);
    requests[i].buffer = voxels + (size_t) i * room;
    requests[i].nbytes = room * sizeof *voxels;
  }
  const struct radio_read_options options = { .scaled = true };
  enum radio_status status
    = radio_volume_read_many (reader->volume, requests, NBOXES,
                              RADIO_FLOAT32, &options);
  if (status == RADIO_OK)
    for (int i = 0; i < NBOXES; i++)
      reader->sum += voxels[(size_t) i * room];
  return status;
}

static void *
run_reader (void *argument)
{
  struct reader *reader = argument;
  size_t count = NBOXES;
  for (size_t i = 0; i < reader->info.array.rank; i++)
    count *= SIZE;
  float *voxels = malloc (count * sizeof *voxels);
  reader->status = voxels ? RADIO_OK : RADIO_ERROR_MEMORY;
  for (int i = 0; i < NBATCHES && reader->status == RADIO_OK; i++)
    reader->status = read_batch (reader, voxels, count);
  snprintf (reader->message, sizeof reader->message, "%s",
            radio_error_message ());
  free (voxels);
  return NULL;
}

static int
run_readers (struct radio_volume *volume)
{
  static struct reader readers[NTHREADS];
  int nstarted = 0, nfailed = 0;
  for (; nstarted < NTHREADS; nstarted++) {
    struct reader *reader = &readers[nstarted];
    reader->volume = volume;
    reader->random = (uint64_t) nstarted;
    radio_volume_get_info (volume, &reader->info);
    if (pthread_create (&reader->thread, NULL, run_reader, reader) != 0)
      break;
  }
  for (int i = 0; i < nstarted; i++) {
    pthread_join (readers[i].thread, NULL);
    if (readers[i].status == RADIO_OK)
      continue;
    fprintf (stderr, "many-boxes: %s\n", readers[i].message);
    nfailed++;
  }
  if (nstarted == NTHREADS && nfailed == 0)
    printf ("%d threads read %d boxes each\n", NTHREADS, NBATCHES * NBOXES);
  return nstarted < NTHREADS || nfailed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int
main (int argc, char **argv)
{
  struct radio_store *store;
  struct radio_volume *volume;
  if (argc != 3) {
    fputs ("usage: many-boxes STORE VOLUME\n", stderr);
    return 2;
  }
  enum radio_status status = radio_store_open (argv[1], NULL, &store);
  if (status == RADIO_OK) {
    status = radio_volume_open (store, argv[2], &volume);
    /* The volume stays usable after its store is closed. */
    radio_store_close (store);
  }
  if (status != RADIO_OK) {
    fprintf (stderr, "many-boxes: %s\n", radio_error_message ());
    return EXIT_FAILURE;
  }
  int exit_status = run_readers (volume);
  radio_volume_close (volume);
  return exit_status;
}
