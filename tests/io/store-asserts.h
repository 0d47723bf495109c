/* SPDX-License-Identifier: MIT */
/* Assertions on stores, for every test that has one. */
#ifndef RD_TESTS_STORE_ASSERTS_H
#define RD_TESTS_STORE_ASSERTS_H

#include "tests/unit.h"

#include "io/io.h"

void put_text (struct rd_io *io, const char *key, const char *text);
void assert_text (struct rd_io *io, const char *key, const char *text);

/* Reads an object and discards it. */
enum radio_status read_key (struct rd_io *io, const char *key);

/* Bytes that depend on their offset: any cut or shift shows. */
unsigned char *make_bytes (size_t nbytes);

/* A listing as text: one "NAME NBYTES" or "NAME/" a line. */
struct listing {
  char text[4096];
  size_t n;
};

rd_io_list_fn note_entry;
void assert_list (struct rd_io *io, const char *prefix, bool recursive,
                  const char *expected);

/* Objects whose order distinguishes byte order from any other. */
void fill_tree (struct rd_io *io);

#endif /* RD_TESTS_STORE_ASSERTS_H */
