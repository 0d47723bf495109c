/* SPDX-License-Identifier: MIT */
/* Reads many boxes of a volume from one thread, at most 64 at a time: each read
 * that ends is replaced by the next one.
 *
 *   async-boxes STORE VOLUME
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <radio/radio.h>

enum { NREADS = 256, MAX_IN_FLIGHT = 64, SIZE = 16 };

/* Guards all below; callbacks run on the library's threads. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int nfree, free_slots[MAX_IN_FLIGHT];
static int nfailed;

struct slot {
  int number;
  int16_t voxels[SIZE * SIZE * SIZE];
};
static struct slot slots[MAX_IN_FLIGHT];

static void
on_done (enum radio_status status, void *user_data)
{
  const struct slot *slot = user_data;
  if (status != RADIO_OK)
    fprintf (stderr, "async-boxes: %s\n", radio_error_message ());
  pthread_mutex_lock (&mutex);
  nfailed += status != RADIO_OK;
  free_slots[nfree++] = slot->number;
  pthread_cond_signal (&changed);
  pthread_mutex_unlock (&mutex);
}

static struct slot *
wait_for_slot (void)
{
  pthread_mutex_lock (&mutex);
  while (nfree == 0)
    pthread_cond_wait (&changed, &mutex);
  int number = free_slots[--nfree];
  pthread_mutex_unlock (&mutex);
  return &slots[number];
}

static enum radio_status
start_read (struct radio_volume *volume, int i)
{
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  struct slot *slot = wait_for_slot ();
  struct radio_request request = { .buffer = slot->voxels,
                                   .nbytes = sizeof slot->voxels };
  request.box.rank = info.array.rank;
  for (size_t axis = 0; axis < request.box.rank; axis++) {
    uint64_t whole = info.array.shape[axis];
    request.box.size[axis] = whole < SIZE ? whole : SIZE;
    request.box.start[axis] = (uint64_t) i * (axis + 1)
                              % (whole - request.box.size[axis] + 1);
  }
  /* The handle is not needed, since nothing is cancelled. */
  return radio_volume_read_async (volume, &request, 1, RADIO_INT16, NULL,
                                  on_done, slot, NULL);
}

/* Waits until every slot is free: then no read is left. */
static void
wait_for_all (void)
{
  pthread_mutex_lock (&mutex);
  while (nfree < MAX_IN_FLIGHT)
    pthread_cond_wait (&changed, &mutex);
  pthread_mutex_unlock (&mutex);
}

static int
run (struct radio_volume *volume)
{
  for (int i = 0; i < MAX_IN_FLIGHT; i++) {
    slots[i].number = i;
    free_slots[nfree++] = i;
  }
  for (int i = 0; i < NREADS; i++)
    if (start_read (volume, i) != RADIO_OK) {
      fprintf (stderr, "async-boxes: %s\n", radio_error_message ());
      exit (EXIT_FAILURE);
    }
  wait_for_all ();
  if (nfailed == 0)
    printf ("%d boxes were read by one thread\n", NREADS);
  return nfailed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int
main (int argc, char **argv)
{
  struct radio_store *store;
  struct radio_volume *volume;
  int status = EXIT_FAILURE;
  if (argc != 3) {
    fputs ("usage: async-boxes STORE VOLUME\n", stderr);
    return 2;
  }
  if (radio_store_open (argv[1], NULL, &store) != RADIO_OK) {
    fprintf (stderr, "async-boxes: %s\n", radio_error_message ());
    return status;
  }
  if (radio_volume_open (store, argv[2], &volume) != RADIO_OK)
    fprintf (stderr, "async-boxes: %s\n", radio_error_message ());
  else {
    status = run (volume);
    radio_volume_close (volume);
  }
  radio_store_close (store);
  return status;
}
