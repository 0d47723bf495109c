/* SPDX-License-Identifier: MIT */
/* Stages of the POSIX store: objects that nothing refers to yet are written in
 * place, and made durable together with the object that refers to them.
 *
 * All files are synced, then all folders, then the object is renamed.  The
 * file system commits once for all threads that wait for it at the same time:
 * many volumes that are published at once take little longer than one. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/reserve.h"
#include "profiler/counters.h"
#include "io/posix/posix.h"

/* Files that a stage holds open until they are synced; others, and large
 * ones, are synced when they are complete.  64 volumes in flight, each with
 * two stages, its source and its locks, stay below 1,024 descriptors. */
#define MAX_FILES 4
#define LARGE_NBYTES ((uint64_t) 1 << 20)

/* Small files of a stage that are synced one by one.  Further ones, and all
 * folders, are left to one sync of the file system when it is published: a
 * table of 2,000 columns has 10,000 files. */
#define MAX_SYNCED 256

struct paths {
  char **items;
  size_t n, capacity;
};

struct rd_io_stage {
  struct rd_io_stage *next;
  char *prefix;
  int fds[MAX_FILES];
  size_t nfds, nsynced;
  bool needs_all;             /* the file system is to be synced */
  struct paths folders;       /* whose entries have changed, until then */
};

struct rd_posix_stages {
  pthread_mutex_t mutex;
  _Atomic size_t nunsynced;
  struct {
    struct rd_io_stage *first;
    struct paths unsynced;    /* folders in which a lock made one */
  } synced;
};

/*------------------------------------------------------------------------
 * Lists of folders
 *----------------------------------------------------------------------*/

static enum radio_status
add_path (struct paths *paths, const char *path)
{
  for (size_t i = 0; i < paths->n; i++)
    if (strcmp (paths->items[i], path) == 0)
      return RADIO_OK;
  RD_TRY (rd_reserve (&paths->items, &paths->capacity, paths->n,
                      sizeof *paths->items));
  char *copy = rd_strdup (path);
  if (copy == NULL)
    return rd_fail_memory (strlen (path) + 1);
  paths->items[paths->n++] = copy;
  return RADIO_OK;
}

static void
free_paths (struct paths *paths)
{
  for (size_t i = 0; i < paths->n; i++)
    rd_free (paths->items[i]);
  rd_free (paths->items);
}

enum radio_status
rd_posix_stages_open (struct rd_posix_stages **result)
{
  struct rd_posix_stages *stages = rd_calloc (1, sizeof *stages);
  if (stages == NULL)
    return rd_fail_memory (sizeof *stages);
  pthread_mutex_init (&stages->mutex, NULL);
  *result = stages;
  return RADIO_OK;
}

void
rd_posix_stages_close (struct rd_posix_stages *stages)
{
  if (stages == NULL)
    return;
  free_paths (&stages->synced.unsynced);
  pthread_mutex_destroy (&stages->mutex);
  rd_free (stages);
}

/*------------------------------------------------------------------------
 * Folders that a lock made: durable with the first object below them
 *----------------------------------------------------------------------*/

enum radio_status
rd_posix_note_unsynced (const struct rd_posix *posix, const char *folder)
{
  struct rd_posix_stages *stages = posix->stages;
  RD_LOCK_SCOPE (&stages->mutex);
  RD_TRY (add_path (&stages->synced.unsynced, folder));
  atomic_store (&stages->nunsynced, stages->synced.unsynced.n);
  return RADIO_OK;
}

bool
rd_posix_drop_unsynced (const struct rd_posix *posix, const char *folder)
{
  struct rd_posix_stages *stages = posix->stages;
  if (stages == NULL || atomic_load (&stages->nunsynced) == 0)
    return false;
  RD_LOCK_SCOPE (&stages->mutex);
  struct paths *unsynced = &stages->synced.unsynced;
  size_t i = 0;
  while (i < unsynced->n && strcmp (unsynced->items[i], folder) != 0)
    i++;
  if (i == unsynced->n)
    return false;
  rd_free (unsynced->items[i]);
  unsynced->items[i] = unsynced->items[--unsynced->n];
  atomic_store (&stages->nunsynced, unsynced->n);
  return true;
}

/* A copy of the path of one above the key, or NULL. */
static enum radio_status
find_unsynced (struct rd_posix_stages *stages, const char *key, char **path)
{
  RD_LOCK_SCOPE (&stages->mutex);
  const struct paths *unsynced = &stages->synced.unsynced;
  *path = NULL;
  for (size_t i = 0; i < unsynced->n; i++)
    if (rd_key_below (key, unsynced->items[i])) {
      *path = rd_strdup (unsynced->items[i]);
      return *path ? RADIO_OK : rd_fail_memory (strlen (key) + 1);
    }
  return RADIO_OK;
}

enum radio_status
rd_posix_sync_above (const struct rd_posix *posix, const char *key)
{
  struct rd_posix_stages *stages = posix->stages;
  while (stages && atomic_load (&stages->nunsynced) > 0) {
    RD_FREE char *path = NULL;
    RD_TRY (find_unsynced (stages, key, &path));
    if (path == NULL)
      return RADIO_OK;
    RD_TRY (rd_posix_sync_folder (posix, path));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Objects of a stage
 *----------------------------------------------------------------------*/

enum radio_status
rd_posix_stage (struct rd_io *io, const char *prefix,
                struct rd_io_stage **result)
{
  struct rd_posix_stages *stages = ((struct rd_posix *) io)->stages;
  *result = NULL;
  RD_TRY (rd_key_check (io, prefix));
  RD_FREE struct rd_io_stage *stage = rd_calloc (1, sizeof *stage);
  if (stage == NULL)
    return rd_fail_memory (sizeof *stage);
  stage->prefix = rd_strdup (prefix);
  if (stage->prefix == NULL)
    return rd_fail_memory (strlen (prefix) + 1);
  RD_LOCK_SCOPE (&stages->mutex);
  stage->next = stages->synced.first;
  stages->synced.first = stage;
  *result = RD_STEAL (stage);
  return RADIO_OK;
}

void
rd_posix_unstage (struct rd_io *io, struct rd_io_stage *stage)
{
  struct rd_posix_stages *stages = ((struct rd_posix *) io)->stages;
  {
    RD_LOCK_SCOPE (&stages->mutex);
    struct rd_io_stage **at = &stages->synced.first;
    while (*at != stage)
      at = &(*at)->next;
    *at = stage->next;
  }
  for (size_t i = 0; i < stage->nfds; i++)
    close (stage->fds[i]);
  free_paths (&stage->folders);
  rd_free (stage->prefix);
  rd_free (stage);
}

/* The stage that a key is in, or NULL. */
static struct rd_io_stage *
find_stage (const struct rd_posix *posix, const char *key)
{
  RD_LOCK_SCOPE (&posix->stages->mutex);
  struct rd_io_stage *stage = posix->stages->synced.first;
  while (stage && !rd_key_below (key, stage->prefix))
    stage = stage->next;
  return stage;
}

static enum radio_status
note_folder (const struct rd_posix *posix, struct rd_io_stage *stage,
             const char *path)
{
  RD_LOCK_SCOPE (&posix->stages->mutex);
  return stage->needs_all ? RADIO_OK : add_path (&stage->folders, path);
}

/* Makes a folder, and those above it that are missing. */
static enum radio_status
make_folder (const struct rd_posix *posix, struct rd_io_stage *stage,
             const char *path)
{
  RD_FREE char *parent = rd_posix_parent (path);
  if (parent == NULL)
    return RADIO_ERROR_MEMORY;
  int result = rd_posix_mkdir (posix, path);
  if (result < 0 && errno == ENOENT && *parent) {
    RD_TRY (make_folder (posix, stage, parent));
    result = rd_posix_mkdir (posix, path);
  }
  if (result < 0 && errno != EEXIST)
    return rd_posix_fail (posix, path, "make the folder");
  return note_folder (posix, stage, parent);
}

enum radio_status
rd_posix_stage_create (const struct rd_posix *posix, const char *key,
                       struct rd_posix_temp *temp)
{
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
  if (posix->stages == NULL)
    return RADIO_OK;
  struct rd_io_stage *stage = find_stage (posix, key);
  if (stage == NULL)
    return RADIO_OK;
  int fd = rd_posix_openat (posix, key, flags);
  if (fd < 0 && errno == ENOENT) {
    RD_FREE char *folder = rd_posix_parent (key);
    if (folder == NULL)
      return RADIO_ERROR_MEMORY;
    RD_TRY (make_folder (posix, stage, folder));
    fd = rd_posix_openat (posix, key, flags);
  }
  /* Any other failure is found again. */
  if (fd < 0)
    return RADIO_OK;
  temp->fd = fd;
  temp->stage = stage;
  temp->path = rd_strdup (key);
  if (temp->path != NULL)
    return RADIO_OK;
  unlinkat (posix->root_fd, key, 0);
  close (fd);
  return rd_fail_memory (strlen (key) + 1);
}

enum radio_status
rd_posix_stage_add (const struct rd_posix *posix, struct rd_posix_temp *temp)
{
  struct rd_io_stage *stage = temp->stage;
  RD_FREE char *folder = rd_posix_parent (temp->path);
  if (folder == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (note_folder (posix, stage, folder));
  bool is_held = false, is_left = false;
  if (temp->nbytes < LARGE_NBYTES) {
    RD_LOCK_SCOPE (&posix->stages->mutex);
    is_held = stage->nfds < MAX_FILES;
    is_left = !is_held && rd_posix_syncs_all ()
              && stage->nsynced == MAX_SYNCED;
    stage->needs_all |= is_left;
    if (is_held)
      stage->fds[stage->nfds++] = temp->fd;
    else if (!is_left)
      stage->nsynced++;
  }
  if (!is_held && !is_left)
    RD_TRY (rd_posix_sync_file (posix, temp->fd, temp->path));
  if (!is_held)
    close (temp->fd);
  rd_free (temp->path);
  *temp = (struct rd_posix_temp) { .fd = -1 };
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Publishing
 *----------------------------------------------------------------------*/

/* Makes the file system begin to write all of them before the first is waited
 * for. */
static enum radio_status
sync_files (const struct rd_posix *posix, const struct rd_io_stage *stage)
{
  if (stage->needs_all)
    return rd_posix_sync_all (posix, stage->prefix);
#ifdef SYNC_FILE_RANGE_WRITE
  for (size_t i = 0; i < stage->nfds; i++)
    (void) sync_file_range (stage->fds[i], 0, 0, SYNC_FILE_RANGE_WRITE);
#endif
  for (size_t i = 0; i < stage->nfds; i++)
    RD_TRY (rd_posix_sync_file (posix, stage->fds[i], stage->prefix));
  return RADIO_OK;
}

static enum radio_status
publish_temp (const struct rd_posix *posix, struct rd_io_stage *const *stages,
              size_t n, struct rd_posix_temp *temp, const char *key,
              enum rd_put how, bool *is_renamed)
{
  RD_FREE char *folder = rd_posix_parent (key);
  RD_FREE char *above = folder ? rd_posix_parent (folder) : NULL;
  if (above == NULL)
    return RADIO_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++)
    RD_TRY (sync_files (posix, stages[i]));
  RD_TRY (rd_posix_sync_file (posix, temp->fd, key));
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; !stages[i]->needs_all && j < stages[i]->folders.n; j++)
      if (strcmp (stages[i]->folders.items[j], folder) != 0)
        RD_TRY (rd_posix_sync_folder (posix, stages[i]->folders.items[j]));
  /* It is opened before the rename, after which nothing may fail for want of
   * a descriptor. */
  RD_CLOSE_FD int fd = rd_posix_openat (posix, rd_posix_path (folder),
                                        O_RDONLY | O_DIRECTORY);
  if (fd < 0)
    return rd_posix_fail (posix, folder, "open the folder");
  /* The one above may have been changed by another process. */
  RD_TRY (rd_posix_sync_open_folder (posix, fd, folder));
  if (*folder)
    RD_TRY (rd_posix_sync_folder (posix, above));
  RD_TRY (rd_posix_sync_above (posix, key));
  RD_TRY (rd_posix_temp_rename (posix, temp, key, how));
  *is_renamed = true;
  return rd_posix_sync_open_folder (posix, fd, folder);
}

enum radio_status
rd_posix_publish (struct rd_io *io, struct rd_io_stage *const *stages,
                  size_t n, const char *key, const struct rd_part *part,
                  enum rd_put how)
{
  const struct rd_posix *posix = (const struct rd_posix *) io;
  struct rd_posix_temp temp;
  bool is_renamed = false;
  RD_TRY (rd_key_check (io, key));
  RD_SCOPE ("publish", RD_IN_DISK);
  RD_TRY (rd_posix_temp_create (posix, key, &temp));
  enum radio_status status = rd_posix_temp_append (posix, &temp, part, 1);
  if (status == RADIO_OK)
    status = publish_temp (posix, stages, n, &temp, key, how, &is_renamed);
  else
    rd_fail_in (status, "%s/%s", io->uri, key);
  if (!is_renamed) {
    rd_posix_temp_discard (posix, &temp);
    return status;
  }
  rd_posix_temp_forget (&temp);
  rd_posix_forget (io, key);
  return status;
}
