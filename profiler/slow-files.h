/* SPDX-License-Identifier: MIT */
/* Files of the profiles of slow runs, as RADIO_PROFILE_SLOW asks for. */
#ifndef RD_SLOW_FILES_H
#define RD_SLOW_FILES_H

#include <radio/profile.h>

struct rd_slow_files;

/* Files in a folder, which ends in '/' or is "" (the current one), with a
 * suffix that is kept (".html").  The options' key is copied.  Errors:
 * RADIO_ERROR_MEMORY. */
enum radio_status
rd_slow_files_new (const char *folder, const char *suffix,
                   const struct radio_profile_write_options *options,
                   void (*on_error) (void),
                   struct rd_slow_files **files) RADIO_USE_RESULT;

/* NULL is legal. */
void rd_slow_files_free (struct rd_slow_files *files);

/* A radio_slow_fn whose user_data are the files: writes FOLDER/NAME-PID-N, by
 * the name of the run's scope, with the next N that no file has.  After a
 * failure the message is set, and on_error called. */
void rd_slow_files_write (const struct radio_profile *profile,
                          void *user_data);

#endif /* RD_SLOW_FILES_H */
