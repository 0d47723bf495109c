/* SPDX-License-Identifier: MIT */
/* pprof's profile.proto, gzipped, for "go tool pprof".
 *
 * A node of the tree is a sample of its path, leaf first, with its own values:
 * calls, self time (wall), work, wait, the bytes that it moved, its counter
 * "requests", and the part of work without a CPU.  pprof sums them itself:
 * its "flat" is this project's self and its "cum" the sum of the tree below.
 * Numbers are signed there: larger ones are cut to 2^63 - 1. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

#include "src/base/alloc.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "profiler/export/export.h"
#include "profiler/export/frames.h"
#include "profiler/export/pprof.h"
#include "profiler/export/string-index.h"

/*------------------------------------------------------------------------
 * The wire format: a key (field number and type), then a number in groups of
 * seven bits, or a length and that number of bytes.
 *----------------------------------------------------------------------*/

enum { TYPE_NUMBER = 0, TYPE_BYTES = 2 };

#define MAX_VARINT 10         /* bytes of 2^64 - 1 */

static size_t
put_varint (unsigned char *out, uint64_t value)
{
  size_t n = 0;
  for (; value >= 0x80; value >>= 7)
    out[n++] = (unsigned char) (value | 0x80);
  out[n++] = (unsigned char) value;
  return n;
}

static void
append (struct rd_wire *wire, const void *data, size_t nbytes)
{
  if (wire->status == RADIO_OK)
    wire->status = rd_buffer_append (&wire->bytes, data, nbytes);
}

static void
append_varint (struct rd_wire *wire, uint64_t value)
{
  unsigned char bytes[MAX_VARINT];
  append (wire, bytes, put_varint (bytes, value));
}

static void
append_key (struct rd_wire *wire, unsigned field, unsigned type)
{
  append_varint (wire, (uint64_t) field << 3 | type);
}

void
rd_wire_number (struct rd_wire *wire, unsigned field, uint64_t value)
{
  if (value == 0)
    return;
  append_key (wire, field, TYPE_NUMBER);
  append_varint (wire, value);
}

static void
append_bytes (struct rd_wire *wire, unsigned field, const void *data,
              size_t nbytes)
{
  append_key (wire, field, TYPE_BYTES);
  append_varint (wire, nbytes);
  append (wire, data, nbytes);
}

void
rd_wire_text (struct rd_wire *wire, unsigned field, const char *text)
{
  append_bytes (wire, field, text, strlen (text));
}

void
rd_wire_packed (struct rd_wire *wire, unsigned field,
                const uint64_t *values, size_t n)
{
  unsigned char bytes[MAX_VARINT];
  uint64_t nbytes = 0;
  for (size_t i = 0; i < n; i++)
    nbytes += put_varint (bytes, values[i]);
  append_key (wire, field, TYPE_BYTES);
  append_varint (wire, nbytes);
  for (size_t i = 0; i < n; i++)
    append_varint (wire, values[i]);
}

void
rd_wire_message (struct rd_wire *wire, unsigned field,
                 struct rd_wire *message)
{
  if (wire->status == RADIO_OK)
    wire->status = message->status;
  append_bytes (wire, field, message->bytes.data, message->bytes.nbytes);
  message->bytes.nbytes = 0;
}

void
rd_wire_free (struct rd_wire *wire)
{
  rd_buffer_free (&wire->bytes);
}

/*------------------------------------------------------------------------
 * The message
 *----------------------------------------------------------------------*/

/* Field numbers of the messages of profile.proto. */
enum {
  PROFILE_SAMPLE_TYPE = 1,
  PROFILE_SAMPLE = 2,
  PROFILE_MAPPING = 3,
  PROFILE_LOCATION = 4,
  PROFILE_FUNCTION = 5,
  PROFILE_STRING_TABLE = 6,
  PROFILE_TIME_NANOS = 9,
  PROFILE_DURATION_NANOS = 10,
  PROFILE_COMMENT = 13,
  PROFILE_DEFAULT_SAMPLE_TYPE = 14,
  VALUE_TYPE = 1,
  VALUE_UNIT = 2,
  SAMPLE_LOCATION_ID = 1,
  SAMPLE_VALUE = 2,
  SAMPLE_LABEL = 3,
  LABEL_KEY = 1,
  LABEL_STR = 2,
  MAPPING_ID = 1,
  MAPPING_FILENAME = 5,
  MAPPING_HAS_FUNCTIONS = 7,
  MAPPING_HAS_FILENAMES = 8,
  MAPPING_HAS_LINE_NUMBERS = 9,
  LOCATION_ID = 1,
  LOCATION_MAPPING_ID = 2,
  LOCATION_LINE = 4,
  LINE_FUNCTION_ID = 1,
  LINE_LINE = 2,
  FUNCTION_ID = 1,
  FUNCTION_NAME = 2,
  FUNCTION_SYSTEM_NAME = 3,
  FUNCTION_FILENAME = 4,
};

enum { CALLS, WALL, WORK, WAIT, BYTES, REQUESTS, NO_CPU, NVALUES };

static const struct {
  const char *type, *unit;
} sample_types[NVALUES] = {
  [CALLS] = { "calls", "count" },
  [WALL] = { "wall", "nanoseconds" },
  [WORK] = { "work", "nanoseconds" },
  [WAIT] = { "wait", "nanoseconds" },
  [BYTES] = { "bytes", "bytes" },
  [REQUESTS] = { "requests", "count" },
  [NO_CPU] = { "no_cpu", "nanoseconds" },
};

struct state {
  struct rd_string_index strings;
  struct rd_wire wire;        /* of the whole */
  struct rd_wire message;     /* of the part that is being made */
  struct rd_wire inner;       /* of a part of that */
};

static void
free_state (struct state *state)
{
  rd_string_index_free (&state->strings);
  rd_wire_free (&state->wire);
  rd_wire_free (&state->message);
  rd_wire_free (&state->inner);
}

static void
put_text (struct state *state, struct rd_wire *wire, unsigned field,
          const char *text)
{
  uint32_t index = rd_string_index_add (&state->strings, text);
  if (index == RD_NO_INDEX && wire->status == RADIO_OK)
    wire->status = rd_fail_memory (sizeof text);
  rd_wire_number (wire, field, index);
}

static uint64_t
cut (uint64_t value)
{
  return rd_min_u64 (value, INT64_MAX);
}

static void
free_compressor (struct libdeflate_compressor **compressor)
{
  libdeflate_free_compressor (*compressor);
}

static enum radio_status
write_gzip (const struct rd_buffer *raw, struct rd_writer *writer)
{
  RD_CLEANUP (free_compressor) struct libdeflate_compressor *compressor =
    libdeflate_alloc_compressor (6);
  if (compressor == NULL)
    return rd_fail_memory (1 << 16);
  size_t room = libdeflate_gzip_compress_bound (compressor, raw->nbytes);
  RD_BUFFER_SCOPE struct rd_buffer packed = { 0 };
  RD_TRY (rd_buffer_reserve (&packed, room));
  packed.nbytes = libdeflate_gzip_compress (compressor, raw->data,
                                            raw->nbytes, packed.data, room);
  rd_write_bytes (writer, packed.data, packed.nbytes);
  return rd_writer_end (writer);
}

/* A sample for each node: its path and values. */
static enum radio_status
write_samples (struct state *state, const struct radio_profile *profile,
               const struct rd_frames *frames)
{
  size_t n = profile->nodes.n;
  RD_FREE uint64_t *path = rd_calloc (n + 1, sizeof *path);
  if (path == NULL)
    return rd_fail_memory (n * sizeof *path);
  for (size_t i = 0; i < n && state->wire.status == RADIO_OK; i++) {
    /* path has room for the deepest one. */
    const struct radio_profile_node *nodes = profile->nodes.at;
    uint64_t values[NVALUES] = {
      [CALLS] = cut (nodes[i].calls),
      [WALL] = cut (nodes[i].self_ns),
      [WORK] = cut (nodes[i].work_ns),
      [WAIT] = cut (nodes[i].wait_ns),
      [BYTES] = cut (rd_moved (profile, i, false)),
      [REQUESTS] = cut (radio_profile_counter (profile, i, "requests",
                                               false)),
      [NO_CPU] = cut (nodes[i].starved_ns),
    };
    size_t depth = 0;
    for (size_t at = i; at != RADIO_NO_PARENT; at = nodes[at].parent)
      path[depth++] = frames->of_node[at] + 1;
    rd_wire_packed (&state->message, SAMPLE_LOCATION_ID, path, depth);
    rd_wire_packed (&state->message, SAMPLE_VALUE, values, NVALUES);
    if (nodes[i].category[0] != '\0') {
      put_text (state, &state->inner, LABEL_KEY, "category");
      put_text (state, &state->inner, LABEL_STR, nodes[i].category);
      rd_wire_message (&state->message, SAMPLE_LABEL, &state->inner);
    }
    rd_wire_message (&state->wire, PROFILE_SAMPLE, &state->message);
  }
  return state->wire.status;
}

/* A frame is one location, in one function. */
static void
write_frames (struct state *state, const struct radio_profile *profile,
              const struct rd_frames *frames)
{
  for (uint32_t i = 0; i < frames->n; i++) {
    const struct radio_profile_node *node =
      rd_frames_node (profile, frames, i);
    uint64_t id = (uint64_t) i + 1;
    rd_wire_number (&state->inner, LINE_FUNCTION_ID, id);
    rd_wire_number (&state->inner, LINE_LINE, node->line);
    rd_wire_number (&state->message, LOCATION_ID, id);
    rd_wire_number (&state->message, LOCATION_MAPPING_ID, 1);
    rd_wire_message (&state->message, LOCATION_LINE, &state->inner);
    rd_wire_message (&state->wire, PROFILE_LOCATION, &state->message);

    rd_wire_number (&state->message, FUNCTION_ID, id);
    put_text (state, &state->message, FUNCTION_NAME, node->name);
    put_text (state, &state->message, FUNCTION_SYSTEM_NAME, node->function);
    put_text (state, &state->message, FUNCTION_FILENAME, node->file);
    rd_wire_message (&state->wire, PROFILE_FUNCTION, &state->message);
  }
}

enum radio_status
rd_export_pprof (const struct radio_profile *profile,
                 const struct radio_profile_write_options *options,
                 struct rd_writer *writer)
{
  (void) options;
  RD_FRAMES_SCOPE struct rd_frames frames = { 0 };
  RD_TRY (rd_frames_make (profile, &frames));

  /* The first text of the table has to be the empty one. */
  RD_CLEANUP (free_state) struct state state = { 0 };
  if (rd_string_index_add (&state.strings, "") == RD_NO_INDEX)
    return rd_fail_memory (1);

  for (size_t i = 0; i < NVALUES; i++) {
    put_text (&state, &state.message, VALUE_TYPE, sample_types[i].type);
    put_text (&state, &state.message, VALUE_UNIT, sample_types[i].unit);
    rd_wire_message (&state.wire, PROFILE_SAMPLE_TYPE, &state.message);
  }

  RD_TRY (write_samples (&state, profile, &frames));

  /* One mapping that says that everything has its name, so that no tool
   * looks for symbols. */
  rd_wire_number (&state.message, MAPPING_ID, 1);
  put_text (&state, &state.message, MAPPING_FILENAME, profile->info.program);
  rd_wire_number (&state.message, MAPPING_HAS_FUNCTIONS, 1);
  rd_wire_number (&state.message, MAPPING_HAS_FILENAMES, 1);
  rd_wire_number (&state.message, MAPPING_HAS_LINE_NUMBERS, 1);
  rd_wire_message (&state.wire, PROFILE_MAPPING, &state.message);
  write_frames (&state, profile, &frames);

  const struct radio_profile_info *info = &profile->info;
  rd_wire_number (&state.wire, PROFILE_TIME_NANOS,
                  cut (info->started_unix_ns));
  rd_wire_number (&state.wire, PROFILE_DURATION_NANOS, cut (info->wall_ns));
  put_text (&state, &state.wire, PROFILE_COMMENT, info->title);
  put_text (&state, &state.wire, PROFILE_DEFAULT_SAMPLE_TYPE,
            sample_types[WALL].type);
  for (size_t i = 0; i < state.strings.n; i++)
    rd_wire_text (&state.wire, PROFILE_STRING_TABLE, state.strings.texts[i]);

  RD_TRY (state.wire.status);
  return write_gzip (&state.wire.bytes, writer);
}
