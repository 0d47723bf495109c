/* SPDX-License-Identifier: MIT */
/* A library to be preloaded, which counts the calls of the process that
 * publish, remove or sync files, and lets one of them fail or kills the
 * process before it:
 *
 *   FAIL_CALLS=rename|unlink|fsync   which are counted
 *             |create                that of a new file, which is there then
 *   FAIL_NTH=N                       the N-th, from 1 on
 *   FAIL_HOW=kill|term|int|eio       how it fails, or what ends the process
 *   FAIL_LOG=FILE                    a byte is appended for each
 *   FAIL_NOREPLACE=1                 renameat2 is as on file systems that do
 *                                    not know this flag
 *   FAIL_NAMELESS=1                  open is as on file systems that have no
 *                                    files without names
 */
#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int ncalls;

static bool
fails (const char *name)
{
  const char *calls = getenv ("FAIL_CALLS"), *nth = getenv ("FAIL_NTH");
  const char *how = getenv ("FAIL_HOW"), *log = getenv ("FAIL_LOG");
  if (calls == NULL || strcmp (calls, name) != 0)
    return false;
  int n = atomic_fetch_add (&ncalls, 1) + 1;
  int fd = log ? open (log, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
  if (fd >= 0) {
    (void) !write (fd, ".", 1);
    close (fd);
  }
  if (nth == NULL || how == NULL || n != atoi (nth))
    return false;
  if (strcmp (how, "eio") != 0) {
    raise (strcmp (how, "kill") == 0 ? SIGKILL
           : strcmp (how, "term") == 0 ? SIGTERM : SIGINT);
    return false;
  }
  errno = EIO;
  return true;
}

/* The next function of that name, without a cast that ISO C forbids. */
#define NEXT(function) \
  __typeof__ (&function) next; \
  void *found = dlsym (RTLD_NEXT, #function); \
  memcpy (&next, &found, sizeof next)

int
unlink (const char *path)
{
  NEXT (unlink);
  return fails ("unlink") ? -1 : next (path);
}

int
unlinkat (int fd, const char *path, int flags)
{
  NEXT (unlinkat);
  return fails ("unlink") ? -1 : next (fd, path, flags);
}

int
rename (const char *from, const char *to)
{
  NEXT (rename);
  return fails ("rename") ? -1 : next (from, to);
}

int
renameat (int from_fd, const char *from, int to_fd, const char *to)
{
  NEXT (renameat);
  return fails ("rename") ? -1 : next (from_fd, from, to_fd, to);
}

#ifdef RENAME_NOREPLACE
int
renameat2 (int from_fd, const char *from, int to_fd, const char *to,
           unsigned int flags)
{
  NEXT (renameat2);
  if (getenv ("FAIL_NOREPLACE") && (flags & RENAME_NOREPLACE)) {
    errno = EINVAL;
    return -1;
  }
  return fails ("rename") ? -1 : next (from_fd, from, to_fd, to, flags);
}
#endif

#ifdef O_TMPFILE
int
open (const char *path, int flags, ...)
{
  NEXT (open);
  va_list list;
  va_start (list, flags);
  bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
  bool is_temporary = is_nameless || strstr (path, "/.radio-") != NULL;
  mode_t mode = is_nameless || (flags & O_CREAT) ? va_arg (list, mode_t) : 0;
  va_end (list);
  if (is_nameless && getenv ("FAIL_NAMELESS")) {
    errno = EOPNOTSUPP;
    return -1;
  }
  int fd = next (path, flags, mode);
  if (fd >= 0 && is_temporary)
    (void) fails ("create");
  return fd;
}
#endif

int
fsync (int fd)
{
  NEXT (fsync);
  return fails ("fsync") ? -1 : next (fd);
}
