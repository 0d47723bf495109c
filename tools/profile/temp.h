/* SPDX-License-Identifier: MIT */
/* A folder for what a measurement needs and nobody wants to keep, and
 * Ctrl-C that ends in good order, so that the folder goes in any case. */
#ifndef RD_PROFILE_TEMP_H
#define RD_PROFILE_TEMP_H

#include "tools/tool.h"

/* The folder for temporary files: $TMPDIR, else /tmp. */
const char *rd_temp_folder (void);

/* Make a folder in the one for temporary files or, when beside is not NULL,
 * on the disk where that path lies.  *path is allocated.  Signals are caught
 * from before there is a folder (rd_interrupt_catch).  Returns an exit
 * status, after complaining. */
int rd_temp_make (const char *beside, char **path);

/* Remove a folder with all that is in it, and release the path.  NULL is
 * legal. */
void rd_temp_remove (char *path);

static inline void
rd_cleanup_temp (char **path)
{
  rd_temp_remove (*path);
}

#define RD_REMOVE_TEMP RD_CLEANUP (rd_cleanup_temp)

/* From here on SIGINT, SIGTERM and SIGHUP are only noted; the third one
 * kills.  Calls after the first do nothing. */
void rd_interrupt_catch (void);

/* Progress that cancels what it is told of once a signal was noted. */
enum radio_status rd_interrupt_stop (const struct radio_progress *progress,
                                     void *user_data);

/* The same for what asks whether it is to end. */
bool rd_interrupt_cancel (void *user_data);

/* The signal that was noted, or 0. */
int rd_interrupted (void);

/* Note a signal that came in another way; 0: none did. */
void rd_interrupt_note (int number);

/* Die of the signal that was noted, if any, so that a shell's loop ends as
 * well. */
void rd_interrupt_die (void);

#endif /* RD_PROFILE_TEMP_H */
