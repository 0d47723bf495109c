/* SPDX-License-Identifier: MIT */
/* Files that commands write. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/facts.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/text.h"

static int
refuse_existing (const char *name)
{
  return rd_error ("%s: exists already; replace it by --overwrite", name);
}

static int
refuse_kind (const char *name)
{
  struct stat st;
  return rd_error (stat (name, &st) == 0 && S_ISDIR (st.st_mode)
                   ? "%s: a folder"
                   : "%s: not a regular file, so not replaced",
                   name);
}

int
rd_new_file_check (const char *name, bool overwrite)
{
  struct stat st;
  if (!overwrite && lstat (name, &st) == 0)
    return refuse_existing (name);
  if (stat (name, &st) == 0 && !S_ISREG (st.st_mode))
    return refuse_kind (name);
  RD_FREE char *copy = rd_format ("%s", name);
  if (copy == NULL)
    return RD_EXIT_FAILED;
  const char *folder = dirname (copy);
  if (access (folder, W_OK | X_OK) != 0)
    return rd_error ("%s: cannot be written: %s: %s", name, folder,
                     strerror (errno));
  return RD_EXIT_OK;
}

int
rd_new_file_open (struct rd_new_file *file)
{
  rd_interrupt_catch ();
  switch (rd_atomic_open (&file->atomic, file->name, file->overwrite, 0666)) {
  case RD_ATOMIC_OK:
    break;
  case RD_ATOMIC_EXISTS:
    return refuse_existing (file->name);
  case RD_ATOMIC_NOT_REGULAR:
    return refuse_kind (file->name);
  default:
    return rd_error ("%s: cannot be written: %s", file->name,
                     rd_errno_text (file->atomic.errnum));
  }
  /* The stream has a descriptor of its own, to be closed before the file is
   * put in its place. */
  int fd = fcntl (file->atomic.fd, F_DUPFD_CLOEXEC, 0);
  file->stream = fd < 0 ? NULL : fdopen (fd, "wb");
  if (file->stream)
    return RD_EXIT_OK;
  int errnum = errno;
  if (fd >= 0)
    close (fd);
  rd_atomic_abort (&file->atomic);
  return rd_error ("%s: cannot be written: %s", file->name,
                   rd_errno_text (errnum));
}

int
rd_new_file_end (struct rd_new_file *file, int errnum)
{
  errno = 0;
  bool written = !ferror (file->stream) && fflush (file->stream) == 0;
  if (errnum == 0 && !written)
    errnum = errno ? errno : EIO;
  if (fclose (file->stream) != 0 && errnum == 0)
    errnum = errno;
  if (rd_interrupted ()) {
    rd_atomic_abort (&file->atomic);
    return RD_EXIT_FAILED;
  }
  if (errnum) {
    rd_atomic_abort (&file->atomic);
    return rd_error ("%s: %s", file->name, rd_errno_text (errnum));
  }
  enum rd_atomic_failure failure = rd_atomic_commit (&file->atomic);
  RD_FREE char *leftover = file->atomic.leftover;
  RD_FREE char *line = leftover ? rd_format (RD_LEFTOVER_FORMAT, file->name,
                                             leftover) : NULL;
  if (line)
    rd_warn (line);
  switch (failure) {
  case RD_ATOMIC_OK:
    return RD_EXIT_OK;
  case RD_ATOMIC_EXISTS:
    return refuse_existing (file->name);
  default:
    return rd_error ("%s: %s", file->name, rd_errno_text (file->atomic.errnum));
  }
}

bool
rd_has_suffix (const char *file, const char *suffix)
{
  size_t n = strlen (file), m = strlen (suffix);
  return n > m && strcmp (file + n - m, suffix) == 0
         && file[n - m - 1] != '/';
}

bool
rd_output_check (struct rd_args *args, const char *file, bool png,
                 bool scaled)
{
  bool npy = rd_has_suffix (file, ".npy");
  bool nii = rd_has_suffix (file, ".nii") || rd_has_suffix (file, ".nii.gz");
  if (!npy && !nii && !(png && rd_has_suffix (file, ".png")))
    rd_usage_error (args, "-o: '%s' ends in none of .nii, .nii.gz, .npy%s",
                    file, png ? ", .png" : "; a folder ends in /");
  else if (scaled && !npy)
    rd_usage_error (args, "--scaled: only .npy files can hold scaled "
                    "values");
  else
    return true;
  return false;
}

void
rd_output_print (const char *file, const char *details)
{
  struct stat st;
  char size[RD_TEXT_NBYTES];
  fputs ("wrote ", stdout);
  rd_text_print (stdout, file);
  printf (": %s", details);
  if (stat (file, &st) == 0 && S_ISREG (st.st_mode))
    printf (", %s", rd_text_size ((uint64_t) st.st_size, size));
  putchar ('\n');
}

/* Prints the message of an export that failed, or describes the file that it
 * wrote. */
static int
end_export (enum radio_status status, const char *file, const char *shape,
            const char *type, char **details)
{
  if (status == RADIO_ERROR_EXISTS)
    return refuse_existing (file);
  if (status == RADIO_ERROR_CANCELLED)
    return RD_EXIT_FAILED;    /* by a signal, which main dies of */
  if (status != RADIO_OK)
    return rd_error_library (NULL);
  *details = rd_format ("%s %s", shape ? shape : "", type);
  return *details ? RD_EXIT_OK : RD_EXIT_FAILED;
}

int
rd_output_volume (const struct rd_target *target,
                  const struct radio_box *box, const char *file,
                  const struct radio_export_options *options, char **details)
{
  struct radio_volume_info info;
  size_t axes[RADIO_MAX_RANK];
  char type[32];
  struct radio_export_options warns = *options;
  warns.warning = rd_on_warning;
  warns.cancel = rd_interrupt_cancel;
  rd_interrupt_catch ();
  enum radio_status status = radio_volume_export (target->volume, box, file,
                                                  &warns);
  radio_volume_get_info (target->volume, &info);
  size_t n = rd_display_axes (&info, axes);
  RD_FREE char *shape = status != RADIO_OK ? NULL
    : rd_join_axes (box ? box->size : info.array.shape, axes, n, info.axes);
  return end_export (status, file, shape, options->scaled ? "float32"
                     : rd_volume_type (&info, type), details);
}

int
rd_output_array (const struct rd_target *target, const struct radio_box *box,
                 const char *file,
                 const struct radio_export_options *options, char **details)
{
  static const size_t axes[RADIO_MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  struct radio_array_info info;
  char type[32], letters[RADIO_MAX_RANK + 1];
  struct radio_export_options warns = *options;
  warns.warning = rd_on_warning;
  warns.cancel = rd_interrupt_cancel;
  rd_interrupt_catch ();
  enum radio_status status = radio_array_export (target->array, box, file,
                                                 &warns);
  radio_array_get_info (target->array, &info);
  rd_array_axes (&info, letters);
  RD_FREE char *shape = status != RADIO_OK ? NULL
    : rd_join_axes (box ? box->size : info.shape, axes, info.rank, letters);
  return end_export (status, file, shape, rd_array_type (&info, type),
                     details);
}
