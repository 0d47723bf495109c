/* SPDX-License-Identifier: MIT */
/* Which keys and prefixes are legal: checked by every store before use, so
 * that no key can lead out of a store's folder. */
#ifndef RD_KEY_H
#define RD_KEY_H

#include "io/io.h"

/* RADIO_ERROR_ARGUMENT, naming the key, unless it is one of an object. */
enum radio_status rd_key_check (const struct rd_io *io, const char *key)
  RADIO_USE_RESULT;

/* The same for a prefix, which may be "". */
enum radio_status rd_prefix_check (const struct rd_io *io,
                                   const char *prefix) RADIO_USE_RESULT;

/* What follows "PREFIX/" in a key, or the key for the prefix ""; NULL when
 * the key is not below the prefix. */
const char *rd_key_below (const char *key, const char *prefix);

#endif /* RD_KEY_H */
