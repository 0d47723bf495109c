/* SPDX-License-Identifier: MIT */
/* Reading an object piece by piece; from a store that does not block, the
 * next piece is on its way while one is dealt with. */
#ifndef RD_COPY_READ_H
#define RD_COPY_READ_H

#include <pthread.h>

#include "src/array/cuts.h"

struct rd_reader;

/* A piece that was asked for. */
struct rd_reading {
  struct rd_cut piece;
  struct rd_io_get get;
  struct rd_buffer buffer;
  struct rd_reader *reader;
  bool is_asked;
  bool has_come;              /* under the reader's mutex */
};

struct rd_reader {
  struct rd_cuts *cuts;
  struct rd_reading readings[2];
  unsigned turn;              /* the one that comes next */
  pthread_mutex_t mutex;
  pthread_cond_t came;
};

/* Pieces were opened, or have no tiles, and stay until the reader is
 * closed. */
void rd_reader_open (struct rd_reader *reader, struct rd_cuts *cuts);
void rd_reader_close (struct rd_reader *reader);
#define RD_READER_SCOPE RD_CLEANUP (rd_reader_close)

/* Read the next piece, which stays until the next call; *reading is NULL
 * when there is none. */
enum radio_status rd_reader_next (struct rd_reader *reader,
                                  const struct rd_reading **reading)
  RADIO_USE_RESULT;

#endif /* RD_COPY_READ_H */
