/* SPDX-License-Identifier: MIT */
/* Arenas: address space is reserved for all that there may be, and a file grows
 * into it.  Blocks have sizes of powers of two; returned ones are listed
 * elsewhere, so that their content stays. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/sanitizers.h"
#include "src/base/thread.h"
#include "profiler/record/arena.h"

/* Room for blocks; less if there is no address space for it. */
#define MOST_BLOCKS ((size_t) 1 << (sizeof (void *) > 4 ? 30 : 26))
#define LEAST_BLOCKS ((size_t) 1 << 24)
#define STEP_NBYTES ((size_t) 1 << 20)
#define LEAST_BLOCK 64
#define NSIZES 32             /* of blocks: 64 B, 128 B, ... */

/* Names tried for a new file; times that it is tried to give it the ring's. */
#define NAME_TRIES 100

#define CANNOT "%s: cannot create this ring"

struct rd_arena {
  unsigned char *at;
  size_t mapped_nbytes;
  size_t ring_nbytes;
  pid_t pid;                  /* of the process that has it */
  int fd;                     /* -1: no file */
  dev_t device;               /* identity of the file */
  ino_t file;
  char *path;                 /* absolute; NULL: no file, or it was removed, or
                                 given away */
  bool is_detached;
  pthread_mutex_t mutex;
  struct {
    size_t nbytes;            /* in use */
    size_t end;               /* of the usable bytes */
    uint64_t *reported;       /* the same as nbytes; or NULL */
    RD_VECTOR (void *) unused[NSIZES];
  } synced;
};

/*------------------------------------------------------------------------
 * The file
 *----------------------------------------------------------------------*/

/* An errno: why a file cannot have the bytes up to `end'. */
static int
check_room (int fd, size_t from, size_t end)
{
  struct rlimit limit;
  struct statvfs room;
  /* A file in memory may take all of it before there is no room. */
  if (fstatvfs (fd, &room) == 0
      && rd_mul_sat (room.f_bavail, room.f_frsize) < end - from)
    return ENOSPC;
  /* Beyond this limit the process gets a signal. */
  if (getrlimit (RLIMIT_FSIZE, &limit) == 0
      && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur)
    return EFBIG;
  return 0;
}

/* Allocates the file's bytes up to `end', so that using them cannot fail.  In
 * steps: signals interrupt it. */
static int
allocate_file (int fd, size_t from, size_t end)
{
  int number = check_room (fd, from, end);
  if (number != 0)
    return number;
  while (from < end) {
    size_t step = rd_min_u64 (end - from, STEP_NBYTES);
    int failed = posix_fallocate (fd, (off_t) from, (off_t) step);
    if (failed != 0 && failed != EINTR)
      return failed;
    from += failed ? 0 : step;
  }
  return 0;
}

/* Others see from it that this file, also without a header, is in use, and
 * those in another container, where this process has another number or none.
 * Where there are no locks, they do not.  False: another process has it. */
static bool
lock_file (int fd)
{
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  return fcntl (fd, F_SETLK, &lock) == 0 || (errno != EAGAIN
                                             && errno != EACCES);
}

enum radio_status
rd_arena_fail_used (const char *path)
{
  return rd_fail (RADIO_ERROR_EXISTS, "%s: another recorder uses this ring; "
                  "use a name with %%p", path);
}

/* Makes room for a file by renaming the one that has its name: rings of dead
 * processes are kept for recovery.  Renaming needs the file's lock, so among
 * processes that start at once only one does it, and none renames another's new
 * file.  Folders, devices and pipes are never a ring. */
static enum radio_status
rename_old (const char *path)
{
  struct stat status, locked;
  size_t room = strlen (path) + sizeof ".old";
  RD_FREE_PLAIN char *old = malloc (room);
  if (!old)
    return rd_fail_memory (room);
  snprintf (old, room, "%s.old", path);
  const char *const names[] = { path, old };
  for (size_t i = 0; i < 2; i++)
    if (lstat (names[i], &status) == 0 && !S_ISREG (status.st_mode))
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: not a regular file, so not "
                      "replaced by a ring; use another name", names[i]);
  RD_CLOSE_FD int fd = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW
                                   | O_NONBLOCK);
  /* Another process renamed it meanwhile, and the name may be that of its own
   * file by now. */
  if (fd < 0)
    return errno == ENOENT
           ? RADIO_OK
           : rd_fail_errno (errno, "%s: cannot open the file that has the "
                            "ring's name", path);
  if (!lock_file (fd))
    return rd_arena_fail_used (path);
  if (fstat (fd, &locked) == 0
      && (lstat (path, &status) != 0 || status.st_dev != locked.st_dev
          || status.st_ino != locked.st_ino))
    return RADIO_OK;
  return rename (path, old) == 0 || errno == ENOENT
         ? RADIO_OK
         : rd_fail_errno (errno, "%s: cannot rename the file that has the "
                         "ring's name", path);
}

/* The program may change its folder before the file is removed. */
static enum radio_status
set_path (struct rd_arena *arena, const char *path)
{
  RD_FREE_PLAIN char *folder = *path == '/' ? NULL : getcwd (NULL, 0);
  size_t room = (folder ? strlen (folder) + 1 : 0) + strlen (path) + 1;
  arena->path = malloc (room);
  if (!arena->path)
    return rd_fail_memory (room);
  snprintf (arena->path, room, "%s%s%s", folder ? folder : "",
            folder ? "/" : "", path);
  return RADIO_OK;
}

/* Opens a new file, whose name it sets, that gets the ring's name when it is
 * locked: so no process sees that one without a lock. */
static enum radio_status
open_unlocked (struct rd_arena *arena, const char *path, char **name)
{
  size_t room = strlen (path) + sizeof ".new" + 16;
  char *made = malloc (room);
  *name = made;
  if (!made)
    return rd_fail_memory (room);
  errno = EEXIST;
  for (unsigned i = 0; arena->fd < 0 && errno == EEXIST && i < NAME_TRIES;
       i++) {
    snprintf (made, room, "%s.new%u", path, i);
    arena->fd = open (made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
                            | O_NOFOLLOW, 0600);
  }
  return arena->fd >= 0 ? RADIO_OK : rd_fail_errno (errno, CANNOT, path);
}

/* Gives the new file the ring's name; some file systems have no links, and
 * there a process that starts just now may replace it. */
static enum radio_status
publish_file (const char *name, const char *path)
{
  for (unsigned i = 0; i < NAME_TRIES; i++) {
    if (link (name, path) == 0)
      return RADIO_OK;
    if (errno != EEXIST)
      return rename (name, path) == 0 ? RADIO_OK
                                      : rd_fail_errno (errno, CANNOT, path);
    RD_TRY (rename_old (path));
  }
  return rd_arena_fail_used (path);
}

static enum radio_status
create_file (struct rd_arena *arena, const char *path)
{
  RD_FREE_PLAIN char *name = NULL;
  struct stat status = { .st_size = 0 };
  RD_TRY (set_path (arena, path));
  RD_TRY (open_unlocked (arena, path, &name));
  lock_file (arena->fd);
  enum radio_status published = fstat (arena->fd, &status) == 0
                                ? publish_file (name, path)
                                : rd_fail_errno (errno, CANNOT, path);
  unlink (name);
  arena->device = status.st_dev;
  arena->file = status.st_ino;
  return published;
}

static bool
is_own_file (const struct rd_arena *arena, const struct stat *status)
{
  return status->st_dev == arena->device && status->st_ino == arena->file;
}

/* The descriptor, or -1: a program may close what it did not open, and the
 * number is another file's then.  Opens the file again if it has its name.
 * Called with the mutex held. */
static int
own_fd_synced (struct rd_arena *arena)
{
  struct stat status;
  if (arena->fd < 0
      || (fstat (arena->fd, &status) == 0 && is_own_file (arena, &status)))
    return arena->fd;
  arena->fd = arena->path ? open (arena->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW
                                               | O_NONBLOCK)
                          : -1;
  if (arena->fd >= 0
      && (fstat (arena->fd, &status) != 0 || !is_own_file (arena, &status))) {
    close (arena->fd);
    arena->fd = -1;
  }
  if (arena->fd >= 0)
    lock_file (arena->fd);
  return arena->fd;
}

void
rd_arena_hold (struct rd_arena *arena)
{
  RD_LOCK_SCOPE (&arena->mutex);
  int fd = own_fd_synced (arena);
  if (fd >= 0)
    lock_file (fd);
}

/* Unless the name is another file's by now. */
static void
remove_file (struct rd_arena *arena)
{
  struct stat status;
  if (arena->path && lstat (arena->path, &status) == 0
      && is_own_file (arena, &status))
    unlink (arena->path);
  free (RD_STEAL (arena->path));
}

/*------------------------------------------------------------------------
 * The mapping
 *----------------------------------------------------------------------*/

static bool
reserve (struct rd_arena *arena, size_t head_nbytes)
{
  int flags = arena->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  for (size_t room = MOST_BLOCKS; room >= LEAST_BLOCKS; room /= 2) {
    size_t nbytes = head_nbytes + room;
    void *at = mmap (NULL, nbytes, PROT_READ | PROT_WRITE,
                     flags | MAP_NORESERVE, arena->fd, 0);
    if (at == MAP_FAILED)
      continue;
    arena->at = at;
    arena->mapped_nbytes = nbytes;
    return true;
  }
  return false;
}

static void
advise (struct rd_arena *arena)
{
#ifdef MADV_DONTFORK
  madvise (arena->at, arena->mapped_nbytes, MADV_DONTFORK);
#endif
#ifdef MADV_DONTDUMP
  /* Core files do not have it, whose address space is large. */
  size_t head_nbytes = RD_ARENA_HEADER_NBYTES + arena->ring_nbytes;
  madvise (arena->at + head_nbytes, arena->mapped_nbytes - head_nbytes,
           MADV_DONTDUMP);
#endif
}

enum radio_status
rd_arena_new (size_t ring_nbytes, const char *path, struct rd_arena **result)
{
  struct rd_arena *arena = calloc (1, sizeof *arena);
  *result = NULL;
  if (!arena)
    return rd_fail_memory (sizeof *arena);
  pthread_mutex_init (&arena->mutex, NULL);
  arena->fd = -1;
  arena->pid = getpid ();
  size_t head_nbytes = RD_ARENA_HEADER_NBYTES + ring_nbytes;
  enum radio_status status = head_nbytes < ring_nbytes
                             || head_nbytes > SIZE_MAX / 2
                               ? rd_fail_memory (SIZE_MAX) : RADIO_OK;
  if (status == RADIO_OK && path)
    status = create_file (arena, path);
  if (status == RADIO_OK && path) {
    int number = allocate_file (arena->fd, 0, head_nbytes);
    if (number != 0)
      status = rd_fail_errno (number, "%s: no room for a ring of %zu bytes",
                              path, ring_nbytes);
  }
  if (status == RADIO_OK && !reserve (arena, head_nbytes))
    status = rd_fail_memory (head_nbytes + LEAST_BLOCKS);
  if (status != RADIO_OK) {
    struct rd_error error;
    rd_error_save (&error, status);
    rd_arena_end (arena);
    rd_arena_free (arena);
    return rd_error_raise (&error);
  }
  arena->ring_nbytes = ring_nbytes;
  advise (arena);
  arena->synced.nbytes = head_nbytes;
  arena->synced.end = path ? head_nbytes : arena->mapped_nbytes;
  *result = arena;
  return RADIO_OK;
}

void
rd_arena_detach (struct rd_arena *arena)
{
  /* ThreadSanitizer takes a mapping for a write by its thread. */
  if (RD_HAS_TSAN || !arena || !arena->path)
    return;
  RD_LOCK_SCOPE (&arena->mutex);
  int fd = own_fd_synced (arena);
  if (fd < 0
      || mmap (arena->at, arena->synced.end, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED)
    return;
  advise (arena);
  arena->is_detached = true;
}

void
rd_arena_give_file (struct rd_arena *arena, char **path)
{
  struct stat status;
  *path = NULL;
  if (arena && arena->is_detached && arena->path
      && lstat (arena->path, &status) == 0 && is_own_file (arena, &status))
    *path = RD_STEAL (arena->path);
}

/* Returns the ring's blocks of the file, which the mapping keeps. */
static void
empty_ring (struct rd_arena *arena)
{
#ifdef FALLOC_FL_PUNCH_HOLE
  RD_LOCK_SCOPE (&arena->mutex);
  int fd = arena->path ? own_fd_synced (arena) : -1;
  if (fd >= 0)
    (void) !fallocate (fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                       RD_ARENA_HEADER_NBYTES, (off_t) arena->ring_nbytes);
#endif
}

void
rd_arena_end (struct rd_arena *arena)
{
  if (!arena)
    return;
  if (arena->is_detached)
    empty_ring (arena);
  remove_file (arena);
  if (!arena->at)
    return;
  unsigned char *ring = rd_arena_ring (arena);
#ifdef MADV_REMOVE
  if (arena->fd >= 0 && !arena->is_detached
      && madvise (ring, arena->ring_nbytes, MADV_REMOVE) == 0)
    return;
#endif
  madvise (ring, arena->ring_nbytes, MADV_DONTNEED);
}

void
rd_arena_free (struct rd_arena *arena)
{
  if (!arena)
    return;
  if (arena->at)
    munmap (arena->at, arena->mapped_nbytes);
  if (own_fd_synced (arena) >= 0)
    close (arena->fd);
  for (size_t i = 0; i < NSIZES; i++)
    free (arena->synced.unused[i].at);
  pthread_mutex_destroy (&arena->mutex);
  free (arena->path);
  free (arena);
}

bool
rd_arena_is_here (const struct rd_arena *arena)
{
  return !arena || arena->pid == getpid ();
}

void *
rd_arena_header (struct rd_arena *arena)
{
  return arena->at;
}

void *
rd_arena_ring (struct rd_arena *arena)
{
  return arena->at + RD_ARENA_HEADER_NBYTES;
}

/* Returns the descriptor of the arena's own file, or -1. */
static int
drop_copy (struct rd_arena *arena)
{
  RD_LOCK_SCOPE (&arena->mutex);
  int fd = own_fd_synced (arena);
  /* Should it fail, the copy stays until the file goes. */
  if (fd >= 0 && ftruncate (fd, (off_t) arena->synced.end) != 0)
    errno = 0;
  return fd;
}

void
rd_arena_drop_copy (struct rd_arena *arena)
{
  (void) drop_copy (arena);
}

uint64_t
rd_arena_put_copy (struct rd_arena *arena, const void *copy, size_t nbytes)
{
  const size_t offset = arena->mapped_nbytes;
  const int fd = drop_copy (arena);
  if (fd < 0 || check_room (fd, offset, offset + nbytes) != 0)
    return 0;
  for (size_t i = 0; i < nbytes;) {
    ssize_t n = pwrite (fd, (const unsigned char *) copy + i,
                        nbytes - i, (off_t) (offset + i));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      rd_arena_drop_copy (arena);
      return 0;
    }
    i += (size_t) n;
  }
  return offset;
}

void
rd_arena_report (struct rd_arena *arena, uint64_t *nbytes)
{
  RD_LOCK_SCOPE (&arena->mutex);
  arena->synced.reported = nbytes;
  *nbytes = arena->synced.nbytes;
}

/*------------------------------------------------------------------------
 * Blocks
 *----------------------------------------------------------------------*/

/* The size of a block, as an index into `unused'; NSIZES: too large. */
static size_t
size_index (size_t nbytes)
{
  size_t i = 0;
  while (i < NSIZES && ((size_t) LEAST_BLOCK << i) < nbytes)
    i++;
  return i;
}

/* A new block, at the end. */
static void *
extend_synced (struct rd_arena *arena, size_t nbytes)
{
  size_t begin = arena->synced.nbytes, end = begin + nbytes;
  if (end < begin || end > arena->mapped_nbytes)
    return NULL;
  if (end > arena->synced.end) {
    RD_NO_CANCEL_SCOPE ();
    size_t next = rd_min_u64 ((end + STEP_NBYTES - 1) & ~(STEP_NBYTES - 1),
                              arena->mapped_nbytes);
    if (allocate_file (own_fd_synced (arena), arena->synced.end, next) != 0)
      return NULL;
    arena->synced.end = next;
  }
  arena->synced.nbytes = end;
  if (arena->synced.reported)
    __atomic_store_n (arena->synced.reported, end, __ATOMIC_RELAXED);
  return arena->at + begin;
}

void *
rd_arena_alloc (struct rd_arena *arena, size_t alignment, size_t nbytes)
{
  if (!arena)
    return alignment > _Alignof (max_align_t)
           ? aligned_alloc (alignment, nbytes) : malloc (nbytes);
  size_t i = size_index (nbytes);
  if (i == NSIZES)
    return NULL;
  RD_LOCK_SCOPE (&arena->mutex);
  if (arena->synced.unused[i].n > 0)
    return arena->synced.unused[i].at[--arena->synced.unused[i].n];
  return extend_synced (arena, (size_t) LEAST_BLOCK << i);
}

void
rd_arena_release (struct rd_arena *arena, void *block, size_t nbytes)
{
  if (!arena || !block) {
    free (block);
    return;
  }
  size_t i = size_index (nbytes);
  RD_LOCK_SCOPE (&arena->mutex);
  void **slot = rd_vector_add (NULL, &arena->synced.unused[i], SIZE_MAX);
  if (slot)                   /* else the block stays unused */
    *slot = block;
}

char *
rd_arena_strndup (struct rd_arena *arena, const char *text, size_t n)
{
  n = strnlen (text, n);
  char *copy = rd_arena_alloc (arena, 1, n + 1);
  if (!copy)
    return NULL;
  memcpy (copy, text, n);
  copy[n] = '\0';
  return copy;
}

bool
rd_array_grow_slow (struct rd_arena *arena, void *array_at, size_t *capacity,
                    size_t n, size_t limit, size_t element_nbytes)
{
  size_t nbytes, larger = 0;
  void *array, *new = NULL;
  if (!arena)
    return rd_reserve_by (array_at, capacity, n, limit, element_nbytes,
                          realloc, &nbytes);
  /* All of the block that it gets. */
  if (n >= limit || __builtin_mul_overflow (n + 1, element_nbytes, &nbytes))
    return false;
  size_t i = size_index (nbytes > 4 * LEAST_BLOCK ? nbytes
                                                  : 4 * LEAST_BLOCK);
  if (i < NSIZES)
    larger = rd_min_u64 (((size_t) LEAST_BLOCK << i) / element_nbytes, limit);
  if (larger > n)
    new = rd_arena_alloc (arena, 1, larger * element_nbytes);
  if (!new)
    return false;
  /* A reader sees the old array or the new one. */
  memcpy (&array, array_at, sizeof array);
  if (n > 0)
    memcpy (new, array, n * element_nbytes);
  memset ((char *) new + n * element_nbytes, 0,
          (larger - n) * element_nbytes);
  rd_commit ();
  memcpy (array_at, &new, sizeof new);
  rd_commit ();
  if (n > 0)
    rd_arena_release (arena, array, *capacity * element_nbytes);
  *capacity = larger;
  return true;
}
