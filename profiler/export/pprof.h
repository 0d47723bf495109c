/* SPDX-License-Identifier: MIT */
/* As much of protocol buffers' wire format as pprof needs: fields that are
 * numbers, bytes, packed numbers and nested messages.  An encoder keeps the
 * first failure and ignores later writes, so that the caller checks once, at
 * the end. */
#ifndef RD_PPROF_H
#define RD_PPROF_H

#include "src/base/buffer.h"

struct rd_wire {
  struct rd_buffer bytes;
  enum radio_status status;
};

/* A field that is a number; 0 is the default, and not written. */
void rd_wire_number (struct rd_wire *wire, unsigned field, uint64_t value);

/* A field that is a text; written also when it is empty. */
void rd_wire_text (struct rd_wire *wire, unsigned field, const char *text);

/* A repeated field of numbers, packed. */
void rd_wire_packed (struct rd_wire *wire, unsigned field,
                     const uint64_t *values, size_t n);

/* A field that is a message.  The message becomes empty, so that the next
 * one can be made in it; its failure becomes that of wire. */
void rd_wire_message (struct rd_wire *wire, unsigned field,
                      struct rd_wire *message);

void rd_wire_free (struct rd_wire *wire);

#endif /* RD_PPROF_H */
