/* SPDX-License-Identifier: MIT */
/* The identity of a file and its content, as far as its metadata show. */
#ifndef RD_FILE_IDENTITY_H
#define RD_FILE_IDENTITY_H

#include <stdint.h>
#include <sys/stat.h>

struct rd_file_identity {
  uint64_t device, inode;
  uint64_t nbytes;
  uint64_t mtime_ns;          /* since 1970, modulo 2^64, as the next */
  uint64_t ctime_ns;          /* of any change; programs cannot set it */
};

static inline struct rd_file_identity
rd_file_identity_of (const struct stat *st)
{
  const uint64_t s_ns = 1000 * 1000 * 1000;
  return (struct rd_file_identity) {
    .device = (uint64_t) st->st_dev, .inode = (uint64_t) st->st_ino,
    .nbytes = (uint64_t) st->st_size,
    .mtime_ns = (uint64_t) st->st_mtim.tv_sec * s_ns
                + (uint64_t) st->st_mtim.tv_nsec,
    .ctime_ns = (uint64_t) st->st_ctim.tv_sec * s_ns
                + (uint64_t) st->st_ctim.tv_nsec,
  };
}

#endif /* RD_FILE_IDENTITY_H */
