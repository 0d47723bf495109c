/* SPDX-License-Identifier: MIT */
/* Threads of the library's own. */
#ifndef RD_THREAD_H
#define RD_THREAD_H

#include <pthread.h>

/* Starts a thread in which all signals are blocked: they are for the program's
 * own threads.  Returns an errno. */
int rd_start_thread (pthread_t *thread, void *(*run) (void *), void *data);

#endif /* RD_THREAD_H */
