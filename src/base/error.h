/* SPDX-License-Identifier: MIT */
/* Reporting failures: each function returns a status and leaves one line in
 * the calling thread's message.  A message is written once, where the
 * cause is known; callers may put a name in front of it. */
#ifndef RD_ERROR_H
#define RD_ERROR_H

#include <radio/base.h>

/* Room for a path of PATH_MAX would be generous; a longer message is cut at
 * a whole character and ends in "...". */
#define RD_ERROR_NBYTES 1024

/* A failure that travels from one thread to another. */
struct rd_error {
  enum radio_status status;
  int errnum;                 /* of the call that failed; or 0 */
  char message[RD_ERROR_NBYTES];
};

/* Set the thread's message and return status.  Control characters that come
 * in with names are replaced by '?', so that a message stays one line. */
enum radio_status rd_fail (enum radio_status status, const char *format, ...)
  RADIO_PRINTF (2, 3);

/* The same, with the status that errnum stands for and its text at the end:
 * "FORMAT: No space left on device". */
enum radio_status rd_fail_errno (int errnum, const char *format, ...)
  RADIO_PRINTF (2, 3);

/* True if the thread's last failure is that the process, or the system, had no
 * descriptor left (EMFILE, ENFILE). */
bool rd_error_lacks_descriptors (void);

/* RADIO_ERROR_MEMORY, with the number of bytes wanted; 0: it is unknown. */
enum radio_status rd_fail_memory (size_t nbytes);

/* Put "FORMAT: " in front of the thread's message; returns status. */
enum radio_status rd_fail_in (enum radio_status status,
                              const char *format, ...) RADIO_PRINTF (2, 3);

/* Saves status and the thread's message, to be raised on another thread. */
void rd_error_save (struct rd_error *error, enum radio_status status);

/* Make a saved failure the calling thread's; returns its status. */
enum radio_status rd_error_raise (const struct rd_error *error);

/* Return from the function when a call failed. */
#define RD_TRY(call)                                    \
  do {                                                  \
    enum radio_status rd_try_status_ = (call);          \
    if (rd_try_status_ != RADIO_OK)                     \
      return rd_try_status_;                            \
  } while (0)

/* Return from a public function when an argument is NULL. */
#define RD_NOT_NULL(argument)                                           \
  do {                                                                  \
    if (!(argument))                                                    \
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: %s is NULL", __func__, \
                      #argument);                                       \
  } while (0)

#endif /* RD_ERROR_H */
