/* SPDX-License-Identifier: MIT */
/* Makes a synthetic volume in a store and exports it to a file, for the test
 * of the examples.
 *
 *   make-phantom STORE FILE.nii.gz
 */
#include <stdio.h>
#include <stdlib.h>

#include <radio/radio.h>

static enum radio_status
make (struct radio_store *store, const char *file)
{
  const struct radio_phantom_options options = { .shape = { 40, 48, 56 } };
  struct radio_volume *volume;
  enum radio_status status = radio_phantom (store, "ct/head", &options);
  if (status == RADIO_OK)
    status = radio_volume_open (store, "ct/head", &volume);
  if (status != RADIO_OK)
    return status;
  status = radio_volume_export (volume, NULL, file, NULL);
  radio_volume_close (volume);
  return status;
}

int
main (int argc, char **argv)
{
  const struct radio_store_options options = { .create = true };
  struct radio_store *store;
  if (argc != 3)
    return 2;
  enum radio_status status = radio_store_open (argv[1], &options, &store);
  if (status == RADIO_OK) {
    status = make (store, argv[2]);
    radio_store_close (store);
  }
  if (status == RADIO_OK)
    return EXIT_SUCCESS;
  fprintf (stderr, "make-phantom: %s\n", radio_error_message ());
  return EXIT_FAILURE;
}
