/* SPDX-License-Identifier: MIT */
/* Writes a segmentation back: reads a volume plane by plane, labels voxels from
 * LOW on as 1 (where a model would run), and writes the labels as a volume with
 * the same geometry.
 *
 *   segment STORE VOLUME LOW NEW-VOLUME
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <radio/radio.h>

/* The planes along the first axis, z, of a 3-D volume. */
static enum radio_status
label (struct radio_volume *volume, double low, struct radio_writer *writer,
       uint64_t *count)
{
  const struct radio_read_options scaled = { .scaled = true };
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  struct radio_box plane = { .rank = info.array.rank };
  memcpy (plane.size, info.array.shape, sizeof plane.size);
  plane.size[0] = 1;
  const uint64_t n = radio_box_count (&plane);
  float *values = malloc (n * sizeof *values);
  unsigned char *labels = malloc (n);
  enum radio_status status = values && labels ? RADIO_OK
                                              : RADIO_ERROR_MEMORY;
  for (; status == RADIO_OK && plane.start[0] < info.array.shape[0];
       plane.start[0]++) {
    status = radio_volume_read (volume, &plane, RADIO_FLOAT32, values,
                                n * sizeof *values, &scaled);
    if (status != RADIO_OK)
      break;
    for (uint64_t i = 0; i < n; i++) {
      labels[i] = values[i] >= low;
      *count += labels[i];
    }
    status = radio_volume_write_slab (writer, &plane, labels, n, NULL);
  }
  free (values);
  free (labels);
  return status;
}

static enum radio_status
segment (struct radio_store *store, const char *name, double low,
         const char *new_name, uint64_t *count)
{
  struct radio_volume *volume;
  struct radio_writer *writer;
  enum radio_status status = radio_volume_open (store, name, &volume);
  if (status != RADIO_OK)
    return status;
  const struct radio_create_options options = {
    .like = volume, .dtype = RADIO_UINT8, .source_name = "segment",
  };
  status = radio_volume_create (store, new_name, &options, &writer);
  if (status == RADIO_OK) {
    status = label (volume, low, writer, count);
    if (status == RADIO_OK)
      status = radio_volume_commit (writer, NULL);
    else
      radio_volume_abort (writer);
  }
  radio_volume_close (volume);
  return status;
}

int
main (int argc, char **argv)
{
  struct radio_store *store;
  uint64_t count = 0;
  if (argc != 5) {
    fprintf (stderr, "usage: segment STORE VOLUME LOW NEW-VOLUME\n");
    return 2;
  }
  enum radio_status status = radio_store_open (argv[1], NULL, &store);
  if (status == RADIO_OK) {
    status = segment (store, argv[2], strtod (argv[3], NULL), argv[4],
                      &count);
    radio_store_close (store);
  }
  if (status != RADIO_OK) {
    fprintf (stderr, "segment: %s\n", radio_error_message ());
    return EXIT_FAILURE;
  }
  printf ("%s: %" PRIu64 " voxels\n", argv[4], count);
  return EXIT_SUCCESS;
}
