/* SPDX-License-Identifier: MIT */
/* Files of /proc and /sys: short texts, of which one read has all. */
#ifndef RD_BASE_PROC_H
#define RD_BASE_PROC_H

#include <fcntl.h>

#include "src/base/cleanup.h"

/* Reads the beginning of a file, with a NUL after it.  Returns its length; 0,
 * and "", if the file cannot be read. */
static inline size_t
rd_proc_read (const char *path, char *text, size_t capacity)
{
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read (fd, text, capacity - 1) : 0;
  text[n > 0 ? n : 0] = '\0';
  return n > 0 ? (size_t) n : 0;
}

#endif /* RD_BASE_PROC_H */
