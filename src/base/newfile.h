/* SPDX-License-Identifier: MIT */
/* The library's atomic files (atomic-file.h), with its errors. */
#ifndef RD_NEWFILE_H
#define RD_NEWFILE_H

#include <sys/types.h>

#include <radio/base.h>

#include "src/base/cleanup.h"

struct rd_newfile;

/* overwrite false: RADIO_ERROR_EXISTS when the file is there (checked again
 * at commit, atomically).  mode: of the new file, less the umask; one
 * that is replaced keeps its own. */
enum radio_status rd_newfile_open (const char *file, bool overwrite,
                                   mode_t mode, struct rd_newfile **newfile)
  RADIO_USE_RESULT;
enum radio_status rd_newfile_write (struct rd_newfile *newfile,
                                    const void *data, size_t nbytes)
  RADIO_USE_RESULT;

/* Make it appear; the new file is gone, also on failure. */
enum radio_status rd_newfile_commit (struct rd_newfile *newfile)
  RADIO_USE_RESULT;
void rd_newfile_abort (struct rd_newfile *newfile);
RD_DEFINE_CLEANUP (newfile, struct rd_newfile, rd_newfile_abort);

#endif /* RD_NEWFILE_H */
