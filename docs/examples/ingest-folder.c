/* SPDX-License-Identifier: MIT */
/* Ingests all NIfTI images of a folder into a store.  Images that fail are
 * reported and do not stop the others.  Volumes that exist are skipped, so the
 * program can be run again when there are more images.
 *
 *   ingest-folder STORE FOLDER
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include <radio/radio.h>

static void
warn (const char *message, void *user_data)
{
  (void) user_data;
  fprintf (stderr, "ingest-folder: warning: %s\n", message);
}

static enum radio_status
ingest_file (struct radio_store *store, const char *file)
{
  const struct radio_ingest_options options = {
    .existing = RADIO_EXISTING_SKIP,
    .warning = warn,
  };
  struct radio_ingest_result result;
  char *path;
  enum radio_status status = radio_ingest_path (file, NULL, &path);
  if (status != RADIO_OK)
    return status;
  status = radio_ingest (store, file, path, &options, &result);
  if (status == RADIO_OK && result.skipped)
    printf ("%s: is there already\n", path);
  else if (status == RADIO_OK)
    printf ("%s: %.1f of %.1f MB\n", path, (double) result.stored_nbytes / 1e6,
            (double) result.source_nbytes / 1e6);
  free (path);
  return status;
}

/* Returns the number of images that failed. */
static int
ingest_folder (struct radio_store *store, const char *folder, DIR *dir)
{
  int nfailed = 0;
  struct dirent *entry;
  while ((entry = readdir (dir)) != NULL) {
    char file[4096];
    int n = snprintf (file, sizeof file, "%s/%s", folder, entry->d_name);
    if (!radio_ingest_is_image (file) || n >= (int) sizeof file)
      continue;
    if (ingest_file (store, file) != RADIO_OK) {
      fprintf (stderr, "ingest-folder: %s\n", radio_error_message ());
      nfailed++;
    }
  }
  return nfailed;
}

int
main (int argc, char **argv)
{
  if (argc != 3) {
    fputs ("usage: ingest-folder STORE FOLDER\n", stderr);
    return 2;
  }
  DIR *dir = opendir (argv[2]);
  if (dir == NULL) {
    perror (argv[2]);
    return EXIT_FAILURE;
  }
  const struct radio_store_options options = { .create = true };
  struct radio_store *store;
  int nfailed = 1;
  if (radio_store_open (argv[1], &options, &store) != RADIO_OK)
    fprintf (stderr, "ingest-folder: %s\n", radio_error_message ());
  else {
    nfailed = ingest_folder (store, argv[2], dir);
    radio_store_close (store);
  }
  closedir (dir);
  return nfailed ? EXIT_FAILURE : EXIT_SUCCESS;
}
