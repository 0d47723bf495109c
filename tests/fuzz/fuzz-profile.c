/* SPDX-License-Identifier: MIT */
/* Profiles: bytes that are read as one can be written in every format, and the
 * JSON reads back and is written as the same bytes again. */
#include <config.h>

#include <string.h>

#include "profiler/export/read.h"
#include "profiler/model/profile.h"
#include "tests/fuzz/fuzz.h"

struct output {
  unsigned char *data;
  size_t nbytes, room;
};

static enum radio_status
append (const void *data, size_t nbytes, void *user_data)
{
  struct output *output = user_data;
  if (nbytes > output->room - output->nbytes) {
    output->room = 2 * output->room + nbytes;
    output->data = realloc (output->data, output->room);
    FUZZ_CHECK (output->data != NULL);
  }
  memcpy (output->data + output->nbytes, data, nbytes);
  output->nbytes += nbytes;
  return RADIO_OK;
}

static struct output
write_as (const struct radio_profile *profile,
          enum radio_profile_format format, bool plain)
{
  struct output output = { 0 };
  struct radio_profile_write_options options = {
    .format = format, .plain_blocks = plain, .colour = plain, .utf8 = plain
  };
  FUZZ_CHECK (radio_profile_write_to (profile, &options, append, &output)
              == RADIO_OK);
  return output;
}

static void
try_all_formats (const struct radio_profile *profile)
{
  for (int format = RADIO_PROFILE_JSON; format <= RADIO_PROFILE_SVG;
       format++) {
    struct output output
      = write_as (profile, (enum radio_profile_format) format, true);
    free (output.data);
  }
}

static void
try_round_trip (const struct radio_profile *profile)
{
  struct radio_profile *back = NULL;
  struct output first = write_as (profile, RADIO_PROFILE_JSON, false);
  FUZZ_CHECK (rd_profile_parse ((char *) first.data, first.nbytes, "again",
                                &back) == RADIO_OK);
  struct output second = write_as (back, RADIO_PROFILE_JSON, false);
  FUZZ_CHECK (first.nbytes == second.nbytes
              && memcmp (first.data, second.data, first.nbytes) == 0);
  radio_profile_close (back);
  free (first.data);
  free (second.data);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  struct radio_profile *profile = NULL;
  if (rd_profile_parse ((const char *) data, nbytes, "input", &profile)
      != RADIO_OK) {
    FUZZ_CHECK (profile == NULL && *radio_error_message ());
    return 0;
  }
  try_round_trip (profile);
  try_all_formats (profile);
  radio_profile_close (profile);
  return 0;
}

/*------------------------------------------------------------------------
 * Seeds
 *----------------------------------------------------------------------*/

static uint32_t
add_node (struct radio_profile *profile, size_t parent, const char *name,
          enum radio_edge edge)
{
  uint32_t index;
  struct radio_profile_node node = {
    .name = name, .category = "disk", .function = "f", .file = "a.c",
    .line = 7, .parent = parent, .edge = edge, .calls = 3, .total_ns = 900,
    .self_ns = 400, .work_ns = 100, .wait_ns = 300, .queue_ns = 5,
    .min_ns = 100, .max_ns = 500, .histogram = { [6] = 1, [8] = 2 },
  };
  FUZZ_CHECK (rd_profile_add_node (profile, &node, &index) == RADIO_OK);
  return index;
}

static void
add_spans (struct radio_profile *profile, uint32_t node, uint32_t lane,
           uint32_t first)
{
  for (uint32_t i = 0; i < 6; i++) {
    struct rd_span span = {
      .begin_ns = 10 + 100 * i, .duration_ns = i % 2 ? 20 : 110,
      .submitted_ns = 5 + 100 * i, .wait_ns = i, .id = first + i,
      .parent = i ? first : 0, .node = node, .lane = lane,
      .flags = i % 4, .nbytes = 4096 * i,
    };
    FUZZ_CHECK (rd_profile_add_span (profile, &span) == RADIO_OK);
  }
}

static void
add_texts (struct radio_profile *profile, uint32_t node)
{
  struct rd_note note = { .node = node, .key = "file", .value = "x.nii",
                          .is_name = true };
  struct rd_sample sample = { .time_ns = 5, .value = -3 };
  uint32_t counter;
  FUZZ_CHECK (rd_profile_add_note (profile, &note) == RADIO_OK);
  FUZZ_CHECK (rd_profile_add_gauge (profile, "held", "bytes", &sample.gauge)
              == RADIO_OK);
  FUZZ_CHECK (rd_profile_add_sample (profile, &sample) == RADIO_OK);
  FUZZ_CHECK (rd_profile_add_counter (profile, "bytes fetched", "bytes",
                                      &counter) == RADIO_OK);
  FUZZ_CHECK (rd_profile_add_value (profile, node, counter, 1 << 20)
              == RADIO_OK);
  FUZZ_CHECK (rd_profile_add_fact (profile, "host", "h", true) == RADIO_OK);
}

static struct radio_profile *
make_profile (unsigned nparts)
{
  struct radio_profile *profile = NULL;
  FUZZ_CHECK (rd_profile_new (&profile) == RADIO_OK);
  uint32_t root = add_node (profile, RADIO_NO_PARENT, "read",
                            RADIO_EDGE_CALL);
  uint32_t get = add_node (profile, root, "GET </script>", RADIO_EDGE_ASYNC);
  for (uint32_t i = 0; i < nparts; i++) {
    struct rd_profile_part part = {
      "rank", 1000 + i, 500, 7, 40 + i, i, { 1, 2, 3 }, 1 + i
    };
    struct rd_lane lane = { .name = "main", .os_tid = 12, .part = i };
    struct radio_profile_share share = { 1, 300, 100, 0, 0 };
    FUZZ_CHECK (rd_profile_add_part (profile, &part, NULL) == RADIO_OK);
    FUZZ_CHECK (rd_profile_add_share (profile, root, i, &share) == RADIO_OK);
    FUZZ_CHECK (rd_profile_add_lane (profile, &lane, NULL) == RADIO_OK);
    add_spans (profile, root, i, 1 + 20 * i);
  }
  add_spans (profile, get, RD_NO_INDEX, 500);
  add_texts (profile, get);
  profile->info.parts = nparts > 1 ? RADIO_PARTS_RANKS : RADIO_PARTS_NONE;
  FUZZ_CHECK (rd_profile_finalize (profile) == RADIO_OK);
  return profile;
}

static size_t
seed_profile (unsigned nparts, enum radio_profile_format format, bool plain,
              unsigned char *out, size_t room)
{
  struct radio_profile *profile = make_profile (nparts);
  struct output output = write_as (profile, format, plain);
  size_t nbytes = output.nbytes;
  FUZZ_CHECK (nbytes <= room);
  memcpy (out, output.data, nbytes);
  free (output.data);
  radio_profile_close (profile);
  return nbytes;
}

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  static const char trace[] = "{\"traceEvents\": [{\"ph\": \"X\"}]}";
  switch (i) {
  case 0: return seed_profile (1, RADIO_PROFILE_JSON, true, out, room);
  case 1: return seed_profile (1, RADIO_PROFILE_JSON, false, out, room);
  case 2: return seed_profile (3, RADIO_PROFILE_JSON, true, out, room);
  case 3: return seed_profile (1, RADIO_PROFILE_FOLDED, true, out, room);
  case 4: return seed_profile (1, RADIO_PROFILE_HTML, true, out, room);
  case 5: memcpy (out, trace, sizeof trace - 1); return sizeof trace - 1;
  default: return 0;
  }
}
