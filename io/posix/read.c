/* SPDX-License-Identifier: MIT */
/* Reads of the POSIX store, and its cache of open files.  Files are read by
 * pread and preadv2 only: a mapped file that shrinks kills its reader. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/hash.h"
#include "profiler/counters.h"
#include "io/posix/posix.h"

/*------------------------------------------------------------------------
 * The cache of open files: opening a file, querying its size and closing it
 * take longer than reading a tile.  Some files that never change are kept
 * open after their use; the least recently used one is evicted.  The table is
 * so small that it is searched linearly, and its mutex is taken once for each
 * shard of a read, not for each of its ranges.
 *----------------------------------------------------------------------*/

struct rd_posix_files {
  pthread_mutex_t mutex;
  struct {
    unsigned n;               /* open, or being opened: kept or not */
    unsigned nkept;
    uint64_t nuses;
    uint64_t generation;      /* incremented when something is forgotten */
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
  if (file->map)
    munmap (file->map, (size_t) file->nbytes);
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

/* Removes the i-th from the table.  The caller closes it if it is not in use;
 * else NULL is returned, and its last user closes it. */
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

/* Removes the least recently used file that is not in use; NULL when all
 * are. */
static struct rd_io_file *
evict_synced (struct rd_posix_files *files)
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

static void
use_synced (struct rd_posix_files *files, struct rd_io_file *file)
{
  file->synced.nusers++;
  file->synced.last_use = ++files->synced.nuses;
}

int
rd_posix_openat (const struct rd_posix *posix, const char *path, int flags)
{
  struct rd_posix_files *files = posix->files;
  for (;;) {
    int fd = openat (posix->root_fd, path, flags | O_CLOEXEC, 0666);
    if (fd >= 0 || (errno != EMFILE && errno != ENFILE) || files == NULL)
      return fd;
    int errnum = errno;
    pthread_mutex_lock (&files->mutex);
    struct rd_io_file *evicted = evict_synced (files);
    pthread_mutex_unlock (&files->mutex);
    free_file (evicted);
    errno = errnum;
    if (evicted == NULL)
      return fd;
  }
}

/* Opens an object for reading, and returns its size. */
static enum radio_status
open_object (const struct rd_posix *posix, const char *key, int *result,
             uint64_t *nbytes)
{
  struct stat st;
  RD_TRY (rd_key_check (&posix->base, key));
  /* O_NONBLOCK, since a pipe of that name must not block. */
  RD_CLOSE_FD int fd = rd_posix_openat (posix, key, O_RDONLY | O_NOCTTY
                                                    | O_NONBLOCK);
  if (fd < 0)
    return rd_posix_fail (posix, key, "open");
  if (fstat (fd, &st) < 0)
    return rd_posix_fail (posix, key, "find the size");
  RD_TRY (rd_posix_check_file (posix, key, &st));
  *nbytes = (uint64_t) st.st_size;
  *result = fd;
  fd = -1;
  return RADIO_OK;
}

/* Opens a file for the cache; NULL when that fails. */
static struct rd_io_file *
open_file (const struct rd_posix *posix, const char *key, uint64_t hash)
{
  size_t nbytes = strlen (key) + 1;
  RD_FREE struct rd_io_file *file = rd_calloc (1, sizeof *file + nbytes);
  if (file == NULL
      || open_object (posix, key, &file->fd, &file->nbytes) != RADIO_OK)
    return NULL;
  file->hash = hash;
  memcpy (file->key, key, nbytes);
  return RD_STEAL (file);
}

struct rd_io_file *
rd_posix_hold (struct rd_io *io, const char *key, bool keep)
{
  const struct rd_posix *posix = (const struct rd_posix *) io;
  struct rd_posix_files *files = posix->files;
  struct rd_io_file *evicted = NULL, *file = NULL;
  bool has_room = false;
  uint64_t hash = rd_hash_text (keep ? key : "");

  pthread_mutex_lock (&files->mutex);
  uint64_t generation = files->synced.generation;
  if (keep)
    file = find_synced (files, key, hash);
  if (file) {
    use_synced (files, file);
  } else {
    if (files->synced.n == RD_POSIX_MAX_FILES)
      evicted = evict_synced (files);
    has_room = files->synced.n < RD_POSIX_MAX_FILES;
    files->synced.n += has_room;
  }
  pthread_mutex_unlock (&files->mutex);
  free_file (evicted);
  if (!has_room)
    return file;

  struct rd_io_file *opened = open_file (posix, key, hash);
  RD_LOCK_SCOPE (&files->mutex);
  /* Another thread may have been faster: then its file is used. */
  if (opened && keep)
    file = find_synced (files, key, hash);
  if (!opened || file) {
    free_file (opened);
    files->synced.n--;
    if (file)
      use_synced (files, file);
    return file;
  }
  use_synced (files, opened);
  /* Unless something was forgotten since. */
  opened->synced.is_kept = keep && generation == files->synced.generation;
  if (opened->synced.is_kept)
    files->synced.kept[files->synced.nkept++] = opened;
  return opened;
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

const unsigned char *
rd_posix_map (struct rd_io_file *file, uint64_t *nbytes)
{
  struct stat st;
  if (!file->map && file->nbytes > 0 && file->nbytes <= SIZE_MAX) {
    void *map = mmap (NULL, (size_t) file->nbytes, PROT_READ, MAP_SHARED,
                      file->fd, 0);
    file->map = map != MAP_FAILED ? map : NULL;
  }
  if (!file->map || fstat (file->fd, &st) < 0)
    return NULL;
  *nbytes = rd_min_u64 (file->nbytes, (uint64_t) st.st_size);
  return file->map;
}

/* The kernel takes times of files from a clock that advances each 1 to 10 ms.
 * Whole seconds are those of a file system that has no parts of them. */
#define TICK_NS ((uint64_t) 20 * 1000 * 1000)
#define WHOLE_TICK_NS ((uint64_t) 2 * 1000 * 1000 * 1000)

bool
rd_posix_identify (struct rd_io_file *file, struct rd_file_identity *identity,
                   bool *is_stable)
{
  struct stat st;
  struct timespec now;
  if (fstat (file->fd, &st) < 0 || clock_gettime (CLOCK_REALTIME, &now) < 0)
    return false;
  *identity = rd_file_identity_of (&st);
  uint64_t tick_ns = st.st_ctim.tv_nsec == 0 ? WHOLE_TICK_NS : TICK_NS;
  *is_stable = identity->ctime_ns + tick_ns
               < (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
  return true;
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
  for (unsigned i = files->synced.nkept; i-- > 0;) {
    const char *key = files->synced.kept[i]->key;
    if (strcmp (key, prefix) == 0 || rd_key_below (key, prefix))
      free_file (drop_synced (files, i));
  }
}

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

/* Copying this much from the page cache may take so long that profiles need
 * to know whether the read blocked. */
#define LONG_NBYTES ((size_t) 32 << 10)

/* Like pread.  For profiles it first reads what is cached, to report whether
 * the read blocks.  Other errors and the end of the file are left to pread:
 * some kernels (5.9, 5.10) return 0 for "not now", too. */
static ssize_t
read_at (int fd, unsigned char *to, size_t nbytes, uint64_t offset)
{
  if (nbytes >= LONG_NBYTES && radio_profile_is_on ()) {
#ifdef RWF_NOWAIT
    const struct iovec part = { to, nbytes };
    ssize_t n = preadv2 (fd, &part, 1, (off_t) offset, RWF_NOWAIT);
    if (n > 0) {
      rd_scope_ran ();
      return n;
    }
#endif
    rd_scope_blocks ();
  }
  return pread (fd, to, nbytes, (off_t) offset);
}

/* A file that consecutive reads may share. */
struct shared_file {
  int fd;                     /* -1: none is open */
  uint64_t nbytes;
};

/* Does one read: from the file that is held, or from the one that the read
 * before left open and that this one leaves open. */
static enum radio_status
get_one (const struct rd_posix *posix, struct shared_file *file,
         struct rd_io_get *get)
{
  const struct rd_io_file *held = get->file;
  struct rd_buffer *into = get->into;
  if (!held && file->fd < 0) {
    rd_scope_blocks ();
    RD_TRY (open_object (posix, get->key, &file->fd, &file->nbytes));
  }
  struct rd_byte_range span;
  RD_TRY (rd_range_resolve (&posix->base, get,
                            held ? held->nbytes : file->nbytes, &span));
  into->nbytes = 0;
  RD_TRY (rd_buffer_reserve (into, span.nbytes));
  while (into->nbytes < span.nbytes) {
    ssize_t n = read_at (held ? held->fd : file->fd,
                         into->data + into->nbytes,
                         span.nbytes - into->nbytes,
                         span.offset + into->nbytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return rd_posix_fail (posix, get->key, "read");
    /* It has shrunk since its size was queried. */
    if (n == 0)
      break;
    into->nbytes += (size_t) n;
  }
  return RADIO_OK;
}

void
rd_posix_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  struct shared_file file = { .fd = -1 };
  for (size_t i = 0; i < n; i++) {
    /* Before done, which may free the key. */
    bool is_same = i + 1 < n && strcmp (gets[i].key, gets[i + 1].key) == 0;
    enum radio_status status
      = get_one ((const struct rd_posix *) io, &file, &gets[i]);
    if (!is_same && file.fd >= 0) {
      close (file.fd);
      file.fd = -1;
    }
    rd_get_finish (&gets[i], status);
  }
}
