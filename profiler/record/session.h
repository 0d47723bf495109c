/* SPDX-License-Identifier: MIT */
/* Which threads had a writer, one after the other. */
#ifndef RD_SESSION_H
#define RD_SESSION_H

#include "profiler/record/record.h"

/* Of all the threads of a writer, so many are told apart; those that come
 * after share the last session. */
#define RD_MAX_SESSIONS 65536

/* The calling thread has the entered writer from now on.  It goes on with
 * the last session if that was its own, or has nothing in the log. */
void rd_session_begin (struct rd_writer_state *writer);

/* Its name as it is now; on the entered writer. */
void rd_session_name (struct rd_writer_state *writer);

/* The name that a thread of this process has now, when its own writer was
 * stopped by another one. */
void rd_session_ask_name (struct rd_session *session);

#endif /* RD_SESSION_H */
