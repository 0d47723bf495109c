/* SPDX-License-Identifier: MIT */
/* Folders for tests. */
#include <config.h>

#include <dirent.h>
#include <ftw.h>

#include "tests/unit.h"

#include "tests/io/place.h"

char *
place_new (void)
{
  char *place = strdup ("radio-test-XXXXXX");
  if (place == NULL || mkdtemp (place) == NULL) {
    perror ("a folder for the test");
    exit (99);
  }
  return place;
}

static int
remove_one (const char *path, const struct stat *st, int kind,
            struct FTW *ftw)
{
  (void) st;
  (void) kind;
  (void) ftw;
  return remove (path);
}

void
place_remove (char *place)
{
  if (nftw (place, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
    perror (place);
  free (place);
}

char *
place_path (const char *place, const char *name)
{
  char *path = NULL;
  if (asprintf (&path, "%s/%s", place, name) < 0)
    exit (99);
  return path;
}

void
place_write (const char *path, const char *text)
{
  FILE *file = fopen (path, "w");
  if (file == NULL || fputs (text, file) < 0 || fclose (file) != 0) {
    perror (path);
    exit (99);
  }
}

size_t
place_count (const char *folder)
{
  DIR *dir = opendir (folder);
  if (dir == NULL)
    return SIZE_MAX;
  size_t n = 0;
  for (const struct dirent *d; (d = readdir (dir)) != NULL;)
    n += strcmp (d->d_name, ".") != 0 && strcmp (d->d_name, "..") != 0;
  closedir (dir);
  return n;
}

struct rd_io *
place_open (const char *place)
{
  struct rd_io *io;
  assert_ok (rd_io_open (place, false, &io));
  return io;
}
