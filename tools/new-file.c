/* SPDX-License-Identifier: MIT */
/* Files that appear whole: a temporary file beside the target, which is
 * renamed when all of it is on the disk. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/new-file.h"

/* Checks that the name is free, or a file that may be replaced. */
static int
check_name (const char *name, bool overwrite)
{
  struct stat st;
  if (!overwrite && lstat (name, &st) == 0)
    return rd_error ("%s: exists already (replace it by --overwrite)",
                     name);
  if (stat (name, &st) != 0 || S_ISREG (st.st_mode))
    return RD_EXIT_OK;
  return rd_error (S_ISDIR (st.st_mode)
                   ? "%s: is a folder"
                   : "%s: is not a regular file, and is not replaced",
                   name);
}

int
rd_new_file_check (const char *name, bool overwrite)
{
  if (check_name (name, overwrite))
    return RD_EXIT_FAILED;
  RD_FREE char *copy = rd_format ("%s", name);
  if (copy == NULL)
    return RD_EXIT_FAILED;
  const char *folder = dirname (copy);
  if (access (folder, W_OK | X_OK) != 0)
    return rd_error ("%s: cannot be written: %s: %s", name, folder,
                     strerror (errno));
  return RD_EXIT_OK;
}

static void
release (struct rd_new_file *file)
{
  free (file->target);
  free (file->temporary);
  file->target = file->temporary = NULL;
}

/* A hidden name beside the file, so that renaming stays in its folder. */
static char *
temporary_name (const char *file)
{
  const char *slash = strrchr (file, '/');
  int folder = slash ? (int) (slash - file) + 1 : 0;
  return rd_format ("%.*s.radio.%ld.tmp", folder, file, (long) getpid ());
}

static int
open_temporary (struct rd_new_file *file)
{
  int fd = open (file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                 0666);
  if (fd < 0)
    return rd_error ("%s: cannot be written: %s", file->name,
                     strerror (errno));
  file->stream = fdopen (fd, "wb");
  if (file->stream)
    return RD_EXIT_OK;
  close (fd);
  unlink (file->temporary);
  return rd_error_memory ();
}

int
rd_new_file_open (struct rd_new_file *file)
{
  if (check_name (file->name, file->overwrite))
    return RD_EXIT_FAILED;
  /* The link's target is replaced, not the link. */
  file->target = realpath (file->name, NULL);
  if (file->target == NULL)
    file->target = rd_format ("%s", file->name);
  file->temporary = file->target ? temporary_name (file->target) : NULL;
  int failed = file->temporary ? open_temporary (file) : RD_EXIT_FAILED;
  if (failed)
    release (file);
  return failed;
}

/* link () never replaces a file; where a file system lacks it, the check
 * and the renaming are two steps. */
static int
put_in_place (const struct rd_new_file *file)
{
  if (file->overwrite)
    return rename (file->temporary, file->target);
  if (link (file->temporary, file->target) == 0)
    return unlink (file->temporary);
  if (errno == EEXIST)
    return -1;
  if (access (file->target, F_OK) == 0) {
    errno = EEXIST;
    return -1;
  }
  return rename (file->temporary, file->target);
}

/* All of it to the disk; 0 or an error number. */
static int
finish_stream (FILE *stream, int errnum)
{
  errno = 0;
  bool written = !ferror (stream) && fflush (stream) == 0
                 && fsync (fileno (stream)) == 0;
  if (errnum == 0 && !written)
    errnum = errno ? errno : EIO;
  if (fclose (stream) != 0 && errnum == 0)
    errnum = errno;
  return errnum;
}

int
rd_new_file_end (struct rd_new_file *file, int errnum)
{
  errnum = finish_stream (file->stream, errnum);
  if (errnum == 0 && put_in_place (file) != 0)
    errnum = errno;
  if (errnum)
    unlink (file->temporary);
  release (file);
  if (errnum == EEXIST)
    return rd_error ("%s: exists already (replace it by --overwrite)",
                     file->name);
  return errnum ? rd_error ("%s: %s", file->name, strerror (errnum))
                : RD_EXIT_OK;
}
