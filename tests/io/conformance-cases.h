/* SPDX-License-Identifier: MIT */
/* What the files of the conformance suite share: how a case gets at its
 * store, and assertions on stores. */
#ifndef RD_TESTS_CONFORMANCE_CASES_H
#define RD_TESTS_CONFORMANCE_CASES_H

#include "tests/unit.h"

#include "io/io.h"

/* The store of a case. */
struct rd_io *io_of (void **state);

void put_text (struct rd_io *io, const char *key, const char *text);
void assert_text (struct rd_io *io, const char *key, const char *text);

/* Read an object, forget it. */
enum radio_status read_key (struct rd_io *io, const char *key);

/* Bytes that tell their place: any cut or shift shows. */
unsigned char *make_bytes (size_t nbytes);

/* A listing as text: one "NAME NBYTES" or "NAME/" a line. */
struct listing {
  char text[4096];
  size_t n;
};

rd_io_list_fn note_entry;
void assert_list (struct rd_io *io, const char *prefix, bool recursive,
                  const char *expected);

/* Objects whose order tells byte order from any other. */
void fill_tree (struct rd_io *io);

/* The cases of each file. */
const struct CMUnitTest *conformance_objects (size_t *n);
const struct CMUnitTest *conformance_trees (size_t *n);
const struct CMUnitTest *conformance_writers (size_t *n);
const struct CMUnitTest *conformance_locks (size_t *n);

#endif /* RD_TESTS_CONFORMANCE_CASES_H */
