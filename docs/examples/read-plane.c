/* SPDX-License-Identifier: MIT */
/* Reads the middle axial plane of a volume, and writes it as a picture (PGM)
 * with the volume's display window, or from the smallest to the largest value
 * if it has none.
 *
 *   read-plane STORE VOLUME >plane.pgm
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <radio/radio.h>

static int
fail (void)
{
  fprintf (stderr, "read-plane: %s\n", radio_error_message ());
  return EXIT_FAILURE;
}

/* Returns the grey value of a voxel; NaN is black. */
static int
grey (float value, double low, double high)
{
  double share = (value - low) / (high - low);
  return share >= 1 ? 255 : share > 0 ? (int) (share * 255) : 0;
}

static void
find_range (const float *voxels, size_t n, double *low, double *high)
{
  *low = *high = voxels[0];
  for (size_t i = 1; i < n; i++) {
    if (voxels[i] < *low)
      *low = voxels[i];
    if (voxels[i] > *high)
      *high = voxels[i];
  }
}

static int
write_plane (struct radio_volume *volume)
{
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  uint64_t shape[2];
  radio_volume_plane_shape (volume, RADIO_AXIAL, shape);
  size_t n = shape[0] * shape[1];
  float *voxels = malloc (n * sizeof *voxels);
  if (voxels == NULL)
    return EXIT_FAILURE;

  /* Read scaled values for any stored type. */
  const struct radio_read_options options = { .scaled = true };
  uint64_t middle = info.array.shape[info.plane_axis[RADIO_AXIAL]] / 2;
  if (radio_volume_read_plane (volume, RADIO_AXIAL, middle, RADIO_FLOAT32,
                               voxels, n * sizeof *voxels, &options)
      != RADIO_OK) {
    free (voxels);
    return fail ();
  }
  double low = info.window_low, high = info.window_high;
  if (low == high)
    find_range (voxels, n, &low, &high);
  printf ("P5\n%" PRIu64 " %" PRIu64 "\n255\n", shape[1], shape[0]);
  for (size_t i = 0; i < n; i++)
    putchar (grey (voxels[i], low, high));
  free (voxels);
  return EXIT_SUCCESS;
}

int
main (int argc, char **argv)
{
  struct radio_store *store;
  struct radio_volume *volume;
  if (argc != 3) {
    fputs ("usage: read-plane STORE VOLUME >plane.pgm\n", stderr);
    return 2;
  }
  if (radio_store_open (argv[1], NULL, &store) != RADIO_OK)
    return fail ();
  int status = EXIT_FAILURE;
  if (radio_volume_open (store, argv[2], &volume) != RADIO_OK)
    fail ();
  else {
    status = write_plane (volume);
    radio_volume_close (volume);
  }
  radio_store_close (store);
  return status;
}
