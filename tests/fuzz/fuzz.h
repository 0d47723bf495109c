/* SPDX-License-Identifier: MIT */
/* The two functions of a fuzz target.  With --enable-fuzzers each is linked
 * to libFuzzer (libfuzzer-NAME); in every build replay.c makes an ordinary
 * test of it (fuzz-NAME), which runs its seeds and mutations of them. */
#ifndef RD_TESTS_FUZZ_H
#define RD_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/alloc.h"

/* Use the bytes as hostile input.  A broken promise ends the process, by
 * FUZZ_CHECK, or by a sanitizer.  Returns 0. */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes);

/* Make the i-th seed, counted from 0: an input that is right, or wrong in an
 * interesting way.  Returns its size, at most room (RD_FUZZ_ROOM); 0 after
 * the last one. */
size_t rd_fuzz_seed (unsigned i, unsigned char *out, size_t room);

#define RD_FUZZ_ROOM ((size_t) 1 << 20)

#define FUZZ_CHECK(condition)                                           \
  do {                                                                  \
    if (!(condition)) {                                                 \
      fprintf (stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__,       \
               #condition);                                             \
      abort ();                                                         \
    }                                                                   \
  } while (0)

/* A seed that is the i-th of n texts: the result of rd_fuzz_seed. */
static inline size_t
fuzz_text_seed (const char *const *texts, size_t n, unsigned i,
                unsigned char *out, size_t room)
{
  size_t nbytes = i < n ? strlen (texts[i]) : 0;
  if (nbytes == 0 || nbytes > room)
    return 0;
  memcpy (out, texts[i], nbytes);
  return nbytes;
}

/* The input with a NUL appended, for rd_free. */
static inline char *
fuzz_text (const uint8_t *data, size_t nbytes)
{
  char *text = rd_malloc (nbytes + 1);
  FUZZ_CHECK (text != NULL);
  if (nbytes)
    memcpy (text, data, nbytes);
  text[nbytes] = '\0';
  return text;
}

#endif /* RD_TESTS_FUZZ_H */
