/* SPDX-License-Identifier: MIT */
/* Threads' names and numbers, as the operating system has them, unless the
 * program gave a name. */
#include <config.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "src/base/cleanup.h"
#include "profiler/record/log.h"
#include "profiler/record/session.h"
#include "profiler/record/writer.h"

static uint64_t
thread_number (void)
{
#ifdef __linux__
  return (uint64_t) syscall (SYS_gettid);
#else
  return (uint64_t) (uintptr_t) &rd_this_thread;
#endif
}

void
rd_session_name (struct rd_writer_state *writer)
{
  const struct rd_thread *thread = &rd_this_thread;
  if (writer->sessions.n == 0)
    return;
  struct rd_session *session = &writer->sessions.at[writer->sessions.n - 1];
  session->is_named = thread->is_named;
  if (thread->is_named)
    memcpy (session->name, thread->name, sizeof session->name);
  else if (pthread_getname_np (pthread_self (), session->name,
                               sizeof session->name) != 0)
    session->name[0] = '\0';
}

static bool
is_unused (const struct rd_writer_state *writer)
{
  return rd_log_mark (writer) == writer->session_mark
         && writer->texts.n == 0;
}

/* A new session, or the last one: when it was this thread's, or is nobody's
 * any more. */
static struct rd_session *
choose_session (struct rd_writer_state *writer, uint64_t os_tid)
{
  size_t n = writer->sessions.n;
  struct rd_session *last = n ? &writer->sessions.at[n - 1] : NULL;
  if (last && last->os_tid == os_tid)
    return last;
  struct rd_session *session = NULL;
  if (!last || !is_unused (writer))
    session = RD_ARRAY_ADD (&writer->sessions, RD_MAX_SESSIONS);
  else
    session = last;
  if (session)
    session->first = writer->next_id >> 16;
  return session;
}

void
rd_session_begin (struct rd_writer_state *writer)
{
  uint64_t os_tid = thread_number ();
  struct rd_session *session = choose_session (writer, os_tid);
  if (session) {
    session->os_tid = os_tid;
    rd_session_name (writer);
  } else if (writer->sessions.n > 0) {
    session = &writer->sessions.at[writer->sessions.n - 1];
    session->os_tid = 0;
    session->is_named = true;
    snprintf (session->name, sizeof session->name, "further threads");
  }
  writer->session_mark = rd_log_mark (writer);
}

/* Not by its handle, which is not valid any more once a thread has ended. */
void
rd_session_ask_name (struct rd_session *session)
{
  char path[64], name[sizeof session->name];
  if (session->is_named || session->os_tid == 0)
    return;
  snprintf (path, sizeof path, "/proc/self/task/%llu/comm",
            (unsigned long long) session->os_tid);
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read (fd, name, sizeof name - 1);
  if (n <= 1)
    return;
  name[n - 1] = '\0';
  memcpy (session->name, name, (size_t) n);
}
