/* SPDX-License-Identifier: MIT */
/* Undoing the two filters of blosc: shuffle keeps the i-th bytes of all
 * elements of a block together, bitshuffle the i-th bits. */
#ifndef RD_UNSHUFFLE_H
#define RD_UNSHUFFLE_H

#include <radio/base.h>

/* Put the bytes of a block in order again.  What is left over of a whole
 * element is at the end, as it is.  The blocks do not overlap. */
void rd_unshuffle (size_t typesize, const unsigned char *from,
                   unsigned char *to, size_t nbytes);

/* Put the bits of a block in order again.  A block whose number of whole
 * elements is no multiple of 8 is as it is.  room is for another block. */
void rd_bitunshuffle (size_t typesize, const unsigned char *from,
                      unsigned char *to, size_t nbytes, unsigned char *room);

#endif /* RD_UNSHUFFLE_H */
