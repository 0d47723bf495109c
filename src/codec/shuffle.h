/* SPDX-License-Identifier: MIT */
/* The two filters of blosc, which make blocks easier to compress: shuffle
 * puts the i-th bytes of all elements together, bitshuffle the i-th bits.
 * unshuffle.h undoes them. */
#ifndef RD_SHUFFLE_H
#define RD_SHUFFLE_H

#include <radio/base.h>

/* Put the bytes of a block together; what is left over of a whole element
 * stays at the end.  The blocks do not overlap. */
void rd_shuffle (size_t typesize, const unsigned char *from,
                 unsigned char *to, size_t nbytes);

/* Put the bits of a block together.  A block whose number of whole elements
 * is no multiple of 8 stays as it is.  room is for another block. */
void rd_bitshuffle (size_t typesize, const unsigned char *from,
                    unsigned char *to, size_t nbytes, unsigned char *room);

/* An instruction set.  Each function begins with the first element (the first
 * byte of a plane) and returns how many it did, the others being left to
 * plain C. */
struct rd_shuffler {
  const char *name;
  bool (*runs) (void);

  /* n elements of 2, 4, 8 bytes to as many planes of n bytes. */
  size_t (*bytes[3]) (const unsigned char *from, unsigned char *to,
                      size_t n);

  /* The bits of n bytes to 8 rows of n / 8 bytes. */
  size_t (*bits) (const unsigned char *from, unsigned char *to, size_t n);
};

/* Those that were compiled, best first; NULL ends the list.  For tests. */
const struct rd_shuffler *const *rd_shufflers (void);

/* The same as rd_bitshuffle and, with room NULL, as rd_shuffle, by one of
 * them, or NULL: by plain C alone. */
void rd_shuffle_by (const struct rd_shuffler *shuffler, size_t typesize,
                    const unsigned char *from, unsigned char *to,
                    size_t nbytes, unsigned char *room);

#ifdef __x86_64__
extern const struct rd_shuffler rd_shuffle_avx2;
extern const struct rd_shuffler rd_shuffle_sse2;
#endif

#endif /* RD_SHUFFLE_H */
