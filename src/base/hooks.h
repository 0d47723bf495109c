/* SPDX-License-Identifier: MIT */
/* The functions that the base calls when it allocates and fails.  The base
 * only declares the table; the recorder defines it (profiler/record/hooks.c),
 * so that the base includes no header above it. */
#ifndef RD_HOOKS_H
#define RD_HOOKS_H

#include <radio/base.h>

struct rd_base_hooks {
  /* A block was allocated: returns the owner that the block stores, 0 for
   * none.  Called only while radio_profile_is_on (). */
  uint64_t (*allocated) (size_t nbytes);

  /* A block whose owner is not 0 is released, by any thread, also when
   * nothing records any more: the owner holds a reference.  A block that is
   * resized is released and allocated. */
  void (*released) (uint64_t owner, size_t nbytes);

  /* The innermost scope failed; with is_again it passes on a failure that
   * may have happened in a scope within it.  Called only while
   * radio_profile_is_on (). */
  void (*failed) (enum radio_status status, bool is_again);
};

extern const struct rd_base_hooks rd_base_hooks;

#endif /* RD_HOOKS_H */
