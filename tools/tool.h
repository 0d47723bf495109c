/* SPDX-License-Identifier: MIT */
/* Included by every part of the command: exit statuses, errors, and cleanup
 * at the end of a scope.  The command is based on the public API alone, so it
 * has its own few macros for that. */
#ifndef RD_TOOL_H
#define RD_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <radio/radio.h>

enum rd_exit {
  RD_EXIT_OK = 0,
  RD_EXIT_FAILED = 1,         /* the work failed: one line on stderr */
  RD_EXIT_USAGE = 2,          /* usage error */
  RD_EXIT_UNCLEAR = 3,        /* of diff */
  RD_EXIT_NOT_CHECKED = 4,    /* of validate */
};

/* Sets the name of the program in messages; radio by default. */
void rd_set_program (const char *name);

/* Prints "radio: MESSAGE" as one line on stderr; returns RD_EXIT_FAILED. */
int rd_error (const char *format, ...) RADIO_PRINTF (1, 2);

/* The first error of this process, or NULL. */
const char *rd_first_error (void);

/* Prints the library's message, with subject before it unless the message
 * contains it already (or subject is NULL). */
int rd_error_library (const char *subject);

/* The same for a message of the library that was kept. */
int rd_error_message (const char *subject, const char *message);

/* Prints "radio: warning: MESSAGE". */
void rd_warn (const char *message);

/* The same as the radio_warning_fn of an operation; user_data is not used. */
void rd_on_warning (const char *message, void *user_data);

/* Prints that memory is exhausted. */
int rd_error_memory (void);

/* Errors and warnings that are printed later, in the order of jobs that run at
 * the same time. */
struct rd_messages {
  struct rd_message *first, *last;
};

/* From here on those of the calling thread are kept; NULL: they are printed. */
void rd_messages_keep (struct rd_messages *messages);

/* Prints those that were kept, and releases them. */
void rd_messages_print (struct rd_messages *messages);

/* Flushes and closes stdout: a full disk makes a command that succeeded fail,
 * and a closed pipe ends the process by SIGPIPE. */
int rd_close_stdout (int status);

/* As strerror, with what to do about a lack of descriptors. */
const char *rd_errno_text (int errnum);

/* The escape sequence, or "" when file is no terminal or NO_COLOR is set. */
const char *rd_color (FILE *file, const char *sequence);
#define RD_BOLD "\033[1m"
#define RD_DIM "\033[2m"
#define RD_RED "\033[31m"
#define RD_GREEN "\033[32m"
#define RD_PLAIN "\033[0m"

/* Formats into allocated memory; NULL, after an error, without memory. */
char *rd_format (const char *format, ...) RADIO_PRINTF (1, 2);

/* Copies one of some strings; NULL, after an error, without memory. */
char *rd_string_copy (const struct radio_strings *strings, uint64_t i);

#define RD_CLEANUP(fn) __attribute__ ((__cleanup__ (fn)))

static inline void
rd_cleanup_free (void *p)
{
  free (*(void **) p);
}

#define RD_FREE RD_CLEANUP (rd_cleanup_free)

static inline void
rd_cleanup_store (struct radio_store **store)
{
  radio_store_close (*store);
}

#define RD_CLOSE_STORE RD_CLEANUP (rd_cleanup_store)

static inline void
rd_cleanup_table (struct radio_table **table)
{
  radio_table_close (*table);
}

#define RD_CLOSE_TABLE RD_CLEANUP (rd_cleanup_table)

#endif /* RD_TOOL_H */
