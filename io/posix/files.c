/* SPDX-License-Identifier: MIT */
/* Files that are held open, since opening, asking for the size and closing
 * takes longer than reading a tile.  A few that never change are kept after
 * their use, for the next; the one that was used longest ago makes room.
 * The table is so small that it is searched from end to end, and its mutex
 * is taken once for each shard of a read, not for each of its ranges. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cleanup.h"
#include "io/key.h"
#include "io/posix/posix.h"

struct rd_posix_files {
  pthread_mutex_t mutex;
  struct {
    unsigned n;               /* open, or being opened: kept or not */
    unsigned nkept;
    uint64_t nuses;
    uint64_t generation;      /* rises when something is forgotten */
    struct rd_io_file *kept[RD_POSIX_MAX_FILES];
  } synced;
};

enum radio_status
rd_posix_files_open (struct rd_posix_files **result)
{
  struct rd_posix_files *files = rd_calloc (1, sizeof *files);
  if (files == NULL)
    return rd_fail_memory (sizeof *files);
  pthread_mutex_init (&files->mutex, NULL);
  *result = files;
  return RADIO_OK;
}

static void
free_file (struct rd_io_file *file)
{
  if (file == NULL)
    return;
  close (file->fd);
  rd_free (file);
}

void
rd_posix_files_close (struct rd_posix_files *files)
{
  if (files == NULL)
    return;
  for (unsigned i = 0; i < files->synced.nkept; i++)
    free_file (files->synced.kept[i]);
  pthread_mutex_destroy (&files->mutex);
  rd_free (files);
}

/* FNV-1a. */
static uint64_t
hash_key (const char *key)
{
  uint64_t hash = 0xcbf29ce484222325;
  for (const char *p = key; *p; p++)
    hash = (hash ^ (unsigned char) *p) * 0x100000001b3;
  return hash;
}

static struct rd_io_file *
find_synced (struct rd_posix_files *files, const char *key, uint64_t hash)
{
  for (unsigned i = 0; i < files->synced.nkept; i++) {
    struct rd_io_file *file = files->synced.kept[i];
    if (file->hash == hash && strcmp (file->key, key) == 0)
      return file;
  }
  return NULL;
}

/* Take the i-th out of the table.  It is the caller's to close if nobody
 * uses it; else NULL is returned, and its last user closes it. */
static struct rd_io_file *
drop_synced (struct rd_posix_files *files, unsigned i)
{
  struct rd_io_file *file = files->synced.kept[i];
  files->synced.kept[i] = files->synced.kept[--files->synced.nkept];
  file->synced.is_kept = false;
  if (file->synced.nusers > 0)
    return NULL;
  files->synced.n--;
  return file;
}

/* Take out the file that was used longest ago and is not in use; NULL when
 * all are. */
static struct rd_io_file *
drop_oldest_synced (struct rd_posix_files *files)
{
  unsigned n = files->synced.nkept, oldest = n;
  struct rd_io_file **kept = files->synced.kept;
  for (unsigned i = 0; i < n; i++)
    if (kept[i]->synced.nusers == 0
        && (oldest == n
            || kept[i]->synced.last_use < kept[oldest]->synced.last_use))
      oldest = i;
  return oldest < n ? drop_synced (files, oldest) : NULL;
}

bool
rd_posix_files_yield (struct rd_posix_files *files)
{
  if (files == NULL)
    return false;
  int errnum = errno;
  pthread_mutex_lock (&files->mutex);
  struct rd_io_file *file = drop_oldest_synced (files);
  pthread_mutex_unlock (&files->mutex);
  free_file (file);
  errno = errnum;
  return file != NULL;
}

static void
use_synced (struct rd_posix_files *files, struct rd_io_file *file)
{
  file->synced.nusers++;
  file->synced.last_use = ++files->synced.nuses;
}

/* Count one more as open, for which another may have to go: *evicted is to
 * be closed then.  False when all that may be open are in use. */
static bool
reserve_synced (struct rd_posix_files *files, struct rd_io_file **evicted)
{
  if (files->synced.n == RD_POSIX_MAX_FILES)
    *evicted = drop_oldest_synced (files);
  if (files->synced.n == RD_POSIX_MAX_FILES)
    return false;
  files->synced.n++;
  return true;
}

/* Open what is to be held; NULL when that fails. */
static struct rd_io_file *
open_file (const struct rd_posix *posix, const char *key, uint64_t hash)
{
  size_t nbytes = strlen (key) + 1;
  RD_FREE struct rd_io_file *file = rd_calloc (1, sizeof *file + nbytes);
  if (file == NULL
      || rd_posix_open_object (posix, key, &file->fd, &file->nbytes)
         != RADIO_OK)
    return NULL;
  file->hash = hash;
  memcpy (file->key, key, nbytes);
  return RD_STEAL (file);
}

/* Enter what was opened, and keep it if it is still what it was; another
 * thread may have been faster: then that one's file is used. */
static struct rd_io_file *
enter (struct rd_posix_files *files, struct rd_io_file *file, bool keep,
       uint64_t generation)
{
  RD_LOCK_SCOPE (&files->mutex);
  if (file == NULL) {
    files->synced.n--;
    return NULL;
  }
  struct rd_io_file *other = NULL;
  if (keep)
    other = find_synced (files, file->key, file->hash);
  if (other) {
    free_file (file);
    files->synced.n--;
    use_synced (files, other);
    return other;
  }
  use_synced (files, file);
  file->synced.is_kept = keep && generation == files->synced.generation;
  if (file->synced.is_kept)
    files->synced.kept[files->synced.nkept++] = file;
  return file;
}

struct rd_io_file *
rd_posix_hold (struct rd_io *io, const char *key, bool keep)
{
  const struct rd_posix *posix = (const struct rd_posix *) io;
  struct rd_posix_files *files = posix->files;
  uint64_t hash = keep ? hash_key (key) : 0;
  struct rd_io_file *evicted = NULL;

  pthread_mutex_lock (&files->mutex);
  uint64_t generation = files->synced.generation;
  struct rd_io_file *file = keep ? find_synced (files, key, hash) : NULL;
  if (file)
    use_synced (files, file);
  bool has_room = !file && reserve_synced (files, &evicted);
  pthread_mutex_unlock (&files->mutex);

  free_file (evicted);
  if (has_room)
    file = enter (files, open_file (posix, key, hash), keep, generation);
  return file;
}

void
rd_posix_release (struct rd_io *io, struct rd_io_file *file)
{
  struct rd_posix_files *files = ((const struct rd_posix *) io)->files;
  pthread_mutex_lock (&files->mutex);
  bool is_last = --file->synced.nusers == 0 && !file->synced.is_kept;
  if (is_last)
    files->synced.n--;
  pthread_mutex_unlock (&files->mutex);
  if (is_last)
    free_file (file);
}

static bool
is_of (const struct rd_io_file *file, const char *prefix)
{
  return strcmp (file->key, prefix) == 0 || rd_key_below (file->key, prefix);
}

/* Files are closed under the mutex: this is rare, and they are few. */
void
rd_posix_forget (struct rd_io *io, const char *prefix)
{
  struct rd_posix_files *files = ((const struct rd_posix *) io)->files;
  if (files == NULL)
    return;
  RD_LOCK_SCOPE (&files->mutex);
  files->synced.generation++;
  for (unsigned i = files->synced.nkept; i-- > 0;)
    if (is_of (files->synced.kept[i], prefix))
      free_file (drop_synced (files, i));
}
