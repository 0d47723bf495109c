/* SPDX-License-Identifier: MIT */
/* Included by every other public header: status codes, the error message, the
 * version and the attribute macros.
 *
 * Conventions of the whole API:
 *  - a function that can fail returns enum radio_status, RADIO_OK being 0;
 *  - on failure the calling thread's message (radio_error_message) names
 *    the file or key, the place in it and the wrong value, and output
 *    parameters are unchanged, except those documented as set;
 *  - axes are in array order (C order, slowest first: z, y, x for a 3-D
 *    volume) unless a name says "nifti", where they are x, y, z;
 *  - a handle may be used by several threads at once; closing it must be its
 *    last use.  Closing NULL is legal and does nothing;
 *  - options structs are legal when zero-filled or NULL: zero means default;
 *  - callbacks of a function are called on the thread that called it, before it
 *    returns; only radio_read_done_fn and an allocator's functions are not.
 *
 * Each function lists its errors.  Common ones are not repeated:
 *  - any function: RADIO_ERROR_ARGUMENT (NULL where a pointer is needed),
 *    RADIO_ERROR_MEMORY, RADIO_ERROR_FORKED;
 *  - "of reading": also RADIO_ERROR_IO, RADIO_ERROR_PERMISSION, and
 *    RADIO_ERROR_LIMIT (an object is larger than memory_limit_nbytes allows);
 *  - "of listing": those of reading, and RADIO_ERROR_UNSUPPORTED (a web server
 *    has no lists of its files);
 *  - "of writing": those of reading, RADIO_ERROR_NO_SPACE, and
 *    RADIO_ERROR_UNSUPPORTED (the store is read-only).
 *
 * A program runs with any later version of the library than the one that it
 * was compiled for:
 *  - options have members called reserved, which must be zero: later versions
 *    have theirs in that place.  If they are not zero, the function fails with
 *    RADIO_ERROR_ARGUMENT;
 *  - results may get members at their end: the functions that fill them take
 *    the size of the struct, and a macro of the same name passes the one that
 *    the program was compiled with.  Bindings pass it themselves;
 *  - structs that stand in arrays or other structs, or that programs define,
 *    are frozen, and their comments say so;
 *  - structs that the library hands out by pointer may get members at their
 *    end: do not copy them whole.
 */
#ifndef RADIO_BASE_H
#define RADIO_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers, for #if.  radio_version () is that of the
 * library that runs, which may be a later one. */
#define RADIO_VERSION_MAJOR 0
#define RADIO_VERSION_MINOR 2
#define RADIO_VERSION_PATCH 0
#define RADIO_VERSION_NUMBER                                              \
  (RADIO_VERSION_MAJOR * 10000 + RADIO_VERSION_MINOR * 100                \
   + RADIO_VERSION_PATCH)

#if defined __GNUC__
#define RADIO_USE_RESULT __attribute__ ((__warn_unused_result__))
#define RADIO_PRINTF(f, a) __attribute__ ((__format__ (__printf__, f, a)))
#else
#define RADIO_USE_RESULT
#define RADIO_PRINTF(f, a)
#endif

#if defined __GNUC__ && !defined _WIN32
#define RADIO_API __attribute__ ((__visibility__ ("default")))
#else
#define RADIO_API
#endif

/* The largest rank of an array (Zarr allows more). */
#define RADIO_MAX_RANK 8

/* The result of a call. */
enum radio_status {
  /* Success. */
  RADIO_OK = 0,

  /* The caller passed something that is never right: NULL where a pointer
   * is needed, a box outside the array, a buffer too small.  Fix the
   * program. */
  RADIO_ERROR_ARGUMENT = 1,

  /* The file, key, volume or store does not exist.  Check the name. */
  RADIO_ERROR_NOT_FOUND = 2,

  /* Something of that name is already committed.  Choose another name, or
   * ask for overwriting. */
  RADIO_ERROR_EXISTS = 3,

  /* The data breaks the rules of its format: damaged, truncated, or another
   * format.  A retry does not help. */
  RADIO_ERROR_FORMAT = 4,

  /* The data is well-formed, but uses a feature that this library lacks; the
   * message names it. */
  RADIO_ERROR_UNSUPPORTED = 5,

  /* A checksum does not match: the bytes changed after they were written.
   * Restore the file from a copy. */
  RADIO_ERROR_CHECKSUM = 6,

  /* The operating system or the network failed (such as EIO).  A retry may
   * help. */
  RADIO_ERROR_IO = 7,

  /* The disk or quota is full.  Committed data are intact. */
  RADIO_ERROR_NO_SPACE = 8,

  /* Permission denied. */
  RADIO_ERROR_PERMISSION = 9,

  /* Out of memory. */
  RADIO_ERROR_MEMORY = 10,

  /* The operation would need more memory than the context's limit allows;
   * the message says how much.  Raise memory_limit_nbytes. */
  RADIO_ERROR_LIMIT = 11,

  /* A value does not fit into the requested type, such as 300 into uint8; the
   * message has the value.  Request a wider type. */
  RADIO_ERROR_RANGE = 12,

  /* The caller cancelled the operation.  The interrupted step committed
   * nothing. */
  RADIO_ERROR_CANCELLED = 13,

  /* The handle was made before fork () and is used in the child.  Open it
   * again there. */
  RADIO_ERROR_FORKED = 14,

  /* The operation did not end within the caller's deadline (deadline_ms of
   * radio_read_options).  A retry may help. */
  RADIO_ERROR_TIMEOUT = 15,
};

/* Returns the message of the calling thread's last failed call: one line
 * without a newline, UTF-8; "" if none failed yet.  Never NULL.  Valid until
 * the thread's next failing call. */
RADIO_API const char *radio_error_message (void);

/* Returns the errno of the system call that this message is about, 0 if it is
 * about none.  With EMFILE the process has no descriptor left: what it was
 * doing may succeed when it closes others or does fewer things at once. */
RADIO_API int radio_error_errno (void);

/* Returns a status as a short English phrase ("not found").  Static storage;
 * never NULL, even for an invalid status. */
RADIO_API const char *radio_status_name (enum radio_status status);

/* Returns the version of the running library, "1.2.3".  Static storage. */
RADIO_API const char *radio_version (void);

/* Returns whether to cancel the current operation.  Called on its thread. */
typedef bool radio_cancel_fn (void *user_data);

/* Sets the function that ends what the calling thread does, such as the first
 * press of Ctrl-C; NULL: none, as in a new thread.  All that reads on this
 * thread asks it: opening over a network, finding, listing, reads, exports,
 * statistics, validation; also 50 times a second while they wait for a server,
 * or for a program that prints credentials; and so do radio_store_remove and
 * radio_store_gc between their steps.  Once it returns true the operation
 * returns RADIO_ERROR_CANCELLED, unless it was just complete, and handles stay
 * usable.  A write that has been sent is not ended; what has a function of its
 * own (radio_read_options) asks that one alone, and reads that were started
 * (radio_array_read_async) none until radio_read_wait.  It must not call the
 * library, nor leave by longjmp. */
RADIO_API void radio_thread_set_cancel (radio_cancel_fn *cancel,
                                        void *user_data);

/* Called on the calling thread with a line about something that is not an
 * error. */
typedef void radio_warning_fn (const char *message, void *user_data);

#ifdef __cplusplus
}
#endif

#endif /* RADIO_BASE_H */
