/* SPDX-License-Identifier: MIT */
/* Signals that end a command in good order, and temporary folders, which are
 * removed in any case. */
#ifndef RD_INTERRUPT_H
#define RD_INTERRUPT_H

#include "tools/tool.h"

/* From here on SIGINT, SIGTERM and SIGHUP are only noted; the third one
 * kills.  Calls after the first do nothing. */
void rd_interrupt_catch (void);

/* The same for SIGINT and SIGTERM, of which the second one kills; the
 * requests of stores are not cancelled. */
void rd_interrupt_catch_once (void);

/* A progress callback that cancels after a signal. */
enum radio_status rd_interrupt_stop (const struct radio_progress *progress,
                                     void *user_data);

/* A cancel callback, for stores. */
bool rd_interrupt_cancel (void *user_data);

/* Requests are cancelled only by the signals that come from here on: what was
 * done before an interrupt is written down, and a further one ends that. */
void rd_interrupt_finish (void);

/* Returns the signal that was noted, or 0. */
int rd_interrupted (void);

/* Notes a signal that came in another way; 0: none did. */
void rd_interrupt_note (int number);

/* Dies of the signal that was noted, if any, so that a shell's loop ends,
 * too.  Called by main, once a command has freed and removed what it had. */
void rd_interrupt_die (void);

/* The folder for temporary files: $TMPDIR, else /tmp. */
const char *rd_temp_folder (void);

/* Makes a folder in the one for temporary files or, when beside is not NULL,
 * on the disk of that path.  *path is allocated.  Signals are caught from
 * before there is a folder (rd_interrupt_catch).  Returns an exit status;
 * prints errors. */
int rd_temp_make (const char *beside, char **path);

/* Removes a folder with all that is in it, and frees the path.  NULL is
 * legal. */
void rd_temp_remove (char *path);

#endif /* RD_INTERRUPT_H */
