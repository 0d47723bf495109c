/* SPDX-License-Identifier: MIT */
/* Files that are read whole, and files that appear whole or not at all
 * (atomic-file.h), with the library's errors. */
#ifndef RD_WHOLE_FILE_H
#define RD_WHOLE_FILE_H

#include <sys/types.h>

#include <radio/base.h>

#include "src/base/buffer.h"
#include "src/base/cleanup.h"

/* Reads a file, or pipe, of at most max_nbytes; a NUL byte follows (not
 * counted).  Memory grows with what is read: a buffer that has a capacity of
 * max_nbytes + 1 stays in place.  RADIO_ERROR_NOT_FOUND; RADIO_ERROR_LIMIT (it
 * is larger); RADIO_ERROR_PERMISSION, RADIO_ERROR_IO, RADIO_ERROR_MEMORY. */
enum radio_status rd_whole_file_read (const char *file, size_t max_nbytes,
                                      struct rd_buffer *into)
  RADIO_USE_RESULT;

struct rd_whole_file;

/* overwrite false: RADIO_ERROR_EXISTS when the file is there (checked again
 * at commit, atomically).  mode: of the new file, less the umask; one
 * that is replaced keeps its own. */
enum radio_status rd_whole_file_open (const char *file, bool overwrite,
                                      mode_t mode,
                                      struct rd_whole_file **whole)
  RADIO_USE_RESULT;
enum radio_status rd_whole_file_write (struct rd_whole_file *whole,
                                       const void *data, size_t nbytes)
  RADIO_USE_RESULT;

/* Make it appear; the new file is gone, also on failure.  warning (may
 * be NULL) is called if it is complete, but its temporary file is left. */
enum radio_status rd_whole_file_commit (struct rd_whole_file *whole,
                                        radio_warning_fn *warning,
                                        void *user_data) RADIO_USE_RESULT;
void rd_whole_file_abort (struct rd_whole_file *whole);
RD_DEFINE_CLEANUP (whole_file, struct rd_whole_file, rd_whole_file_abort);

#endif /* RD_WHOLE_FILE_H */
