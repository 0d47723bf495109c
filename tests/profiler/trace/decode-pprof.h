/* SPDX-License-Identifier: MIT */
/* A decoder of gzipped profile.proto, written from the format's description
 * and sharing nothing with the exporter. */
#ifndef RD_TESTS_DECODE_PPROF_H
#define RD_TESTS_DECODE_PPROF_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/buffer.h"

enum { MAX_VALUES = 16 };

struct pprof_sample {
  size_t depth;
  uint64_t *locations;        /* leaf first */
  size_t nvalues;
  int64_t values[MAX_VALUES];
  const char *label_key, *label;        /* the last; or NULL */
};

struct pprof_function {
  uint64_t id;
  const char *name, *system_name, *file;
};

struct pprof_location {
  uint64_t id, function, mapping;
  int64_t line;
};

struct pprof {
  size_t nstrings, ntypes, nsamples, nfunctions, nlocations, nmappings;
  const char **strings;
  const char *types[MAX_VALUES], *units[MAX_VALUES];
  struct pprof_sample *samples;
  struct pprof_function *functions;
  struct pprof_location *locations;
  const char *mapping_file, *comment, *default_type;
  int64_t time_ns, duration_ns;
};

/* Asserts that all is well-formed: every index within its table, ids unique
 * and not 0, as many values as types, string 0 empty. */
struct pprof *pprof_decode (const struct rd_buffer *gzip);
void pprof_free (struct pprof *pprof);

const struct pprof_function *
pprof_function_of (const struct pprof *pprof, uint64_t location);

/* Writes the path of a sample, root first, "a;b;c", into room for nbytes. */
void pprof_path (const struct pprof *pprof,
                 const struct pprof_sample *sample, char *path,
                 size_t nbytes);

/* Returns the index of a sample type. */
size_t pprof_type (const struct pprof *pprof, const char *type);

#endif /* RD_TESTS_DECODE_PPROF_H */
