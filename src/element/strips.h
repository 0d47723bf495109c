/* SPDX-License-Identifier: MIT */
/* Loops that compilers vectorize. */
#ifndef RD_STRIPS_H
#define RD_STRIPS_H

/* Runs in strips of a constant length, which compilers vectorize also at -O2.
 * The body sees its index, below n, as `j'. */
#define RD_STRIPS(strip, ...)                           \
  do {                                                  \
    size_t i_ = 0;                                      \
    for (; i_ + (strip) <= n; i_ += (strip))            \
      for (size_t j = i_; j < i_ + (strip); j++)        \
        __VA_ARGS__                                     \
    for (size_t j = i_; j < n; j++)                     \
      __VA_ARGS__                                       \
  } while (0)

#endif /* RD_STRIPS_H */
