/* SPDX-License-Identifier: MIT */
/* gzip data, deflated as a stream into a sink: one member, or many that say how
 * long they are.
 *
 * The stream is cut into pieces of one size, each deflated by itself, in
 * parallel by an executor.  A piece begins with the 32 KiB before it as a
 * dictionary and ends at a whole byte, so that all of them one after the
 * other are one deflate stream, at nearly no cost in size.  Its bytes depend
 * only on the data, neither on the number of threads nor on the sizes of
 * writes. */
#ifndef RD_GZIP_H
#define RD_GZIP_H

#include "src/nifti/executor.h"

#define RD_GZIP_PIECE_NBYTES ((size_t) 256 << 10)

struct rd_gzip;

/* Takes compressed bytes, in order, on the thread that writes. */
typedef enum radio_status rd_gzip_sink_fn (void *user_data,
                                           const void *data, size_t nbytes);

/* With member_nbytes, RD_GZIP_MEMBER_MIN_NBYTES at least, that much of the data
 * is a member of its own, deflated without the data before it, whose header
 * says how long it is; 0: one member.  executor may be NULL, and must outlive
 * the object. */
#define RD_GZIP_MEMBER_MIN_NBYTES ((size_t) 64 << 10)
#define RD_GZIP_MEMBER_MAX_NBYTES ((size_t) 64 << 20)
enum radio_status rd_gzip_open (const struct rd_executor *executor,
                                size_t member_nbytes,
                                rd_gzip_sink_fn *sink, void *user_data,
                                struct rd_gzip **gzip) RADIO_USE_RESULT;

enum radio_status rd_gzip_write (struct rd_gzip *gzip, const void *data,
                                 size_t nbytes) RADIO_USE_RESULT;

/* The last bytes: the end of the stream, its CRC and length. */
enum radio_status rd_gzip_finish (struct rd_gzip *gzip) RADIO_USE_RESULT;

/* Returns the size of a member by its header, or 0: BGZF's subfield BC, pgzip's
 * IG, mgzip's MZ.  nbytes of the file are available, from the header on; a
 * header cut off there gives 0. */
uint64_t rd_gzip_member_nbytes (const unsigned char *header, size_t nbytes);

/* Release it; NULL is legal. */
void rd_gzip_close (struct rd_gzip *gzip);

#endif /* RD_GZIP_H */
