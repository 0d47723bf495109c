/* SPDX-License-Identifier: MIT */
/* TensorBoard: a folder with an event file, whose scalars are a profile's
 * figures, and a trace by the name that TensorBoard's PyTorch profiler looks
 * for, NAME.TIME.pt.trace.json.
 *
 * An event file is a sequence of records: the length in 64 bits, its checksum,
 * the bytes, their checksum; little-endian.  The bytes are a message Event of
 * TensorFlow's event.proto, the first one with the version of the format. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/buffer.h"
#include "src/base/crc32c.h"
#include "src/base/little.h"
#include "src/base/whole-file.h"
#include "profiler/export/tensorboard.h"
#include "profiler/model/sum.h"

#define MAX_CATEGORIES 32

/*------------------------------------------------------------------------
 * Protocol buffers
 *----------------------------------------------------------------------*/

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* Fields of the messages Event, Summary and Summary.Value. */
enum { EVENT_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum { VALUE_TAG = 1, VALUE_NUMBER = 2 };

struct events {
  struct rd_writer *writer;
  struct rd_buffer event, summary, value;       /* reused */
  enum radio_status status;
};

static void
put (struct events *events, struct rd_buffer *message, const void *bytes,
     size_t nbytes)
{
  if (events->status == RADIO_OK)
    events->status = rd_buffer_append (message, bytes, nbytes);
}

static void
put_varint (struct events *events, struct rd_buffer *message, uint64_t value)
{
  unsigned char bytes[10];
  size_t n = 0;
  for (; value >= 128; value >>= 7)
    bytes[n++] = (unsigned char) (value | 128);
  bytes[n++] = (unsigned char) value;
  put (events, message, bytes, n);
}

static void
put_key (struct events *events, struct rd_buffer *message, unsigned field,
         unsigned type)
{
  put_varint (events, message, field << 3 | type);
}

static void
put_little (struct events *events, struct rd_buffer *message, uint64_t value,
            size_t nbytes)
{
  unsigned char bytes[8];
  rd_put_little (bytes, value, nbytes);
  put (events, message, bytes, nbytes);
}

static void
put_bytes (struct events *events, struct rd_buffer *message, unsigned field,
           const void *bytes, size_t nbytes)
{
  put_key (events, message, field, BYTES);
  put_varint (events, message, nbytes);
  put (events, message, bytes, nbytes);
}

/* CRC-32C, rotated and moved by a constant, so that a checksum of data that
 * contain a checksum is not a trivial one. */
static uint32_t
masked_crc (const void *bytes, size_t nbytes)
{
  uint32_t crc = rd_crc32c (0, bytes, nbytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

/* Ends the event with the record around it. */
static void
write_event (struct events *events)
{
  const struct rd_buffer *event = &events->event;
  unsigned char length[8], crc[4];
  rd_put_little (length, event->nbytes, sizeof length);
  rd_write_bytes (events->writer, length, sizeof length);
  rd_put_little (crc, masked_crc (length, sizeof length), sizeof crc);
  rd_write_bytes (events->writer, crc, sizeof crc);
  rd_write_bytes (events->writer, event->data, event->nbytes);
  rd_put_little (crc, masked_crc (event->data, event->nbytes), sizeof crc);
  rd_write_bytes (events->writer, crc, sizeof crc);
  events->event.nbytes = 0;
}

static void
begin_event (struct events *events, uint64_t unix_ns)
{
  uint64_t bits;
  double seconds = (double) unix_ns / 1e9;
  memcpy (&bits, &seconds, sizeof bits);
  put_key (events, &events->event, EVENT_TIME, FIXED64);
  put_little (events, &events->event, bits, 8);
}

/* The scalars of an event are its summary; each is a message of its own. */
static void
add_scalar (struct events *events, const char *group, const char *name,
            double value)
{
  uint32_t bits;
  float number = (float) value;
  memcpy (&bits, &number, sizeof bits);
  size_t ngroup = strlen (group), nname = strlen (name);
  events->value.nbytes = 0;
  put_key (events, &events->value, VALUE_TAG, BYTES);
  put_varint (events, &events->value, ngroup + 1 + nname);
  put (events, &events->value, group, ngroup);
  put (events, &events->value, "/", 1);
  put (events, &events->value, name, nname);
  put_key (events, &events->value, VALUE_NUMBER, FIXED32);
  put_little (events, &events->value, bits, 4);
  put_bytes (events, &events->summary, SUMMARY_VALUE, events->value.data,
             events->value.nbytes);
}

static void
end_event (struct events *events, uint64_t step)
{
  put_key (events, &events->event, EVENT_STEP, VARINT);
  put_varint (events, &events->event, step);
  put_bytes (events, &events->event, EVENT_SUMMARY, events->summary.data,
             events->summary.nbytes);
  events->summary.nbytes = 0;
  if (events->status == RADIO_OK)
    write_event (events);
}

/*------------------------------------------------------------------------
 * A profile's figures
 *----------------------------------------------------------------------*/

static double
seconds_of (uint64_t ns)
{
  return (double) ns / 1e9;
}

/* Work by category; "other" has those for which there is no room. */
static void
add_categories (struct events *events, const struct radio_profile *profile)
{
  struct {
    const char *name;
    uint64_t work_ns;
  } found[MAX_CATEGORIES] = { { "other", 0 } };
  size_t n = 1;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    size_t at = 0;
    while (at < n && strcmp (found[at].name, node->category) != 0)
      at++;
    if (at == n && n < MAX_CATEGORIES && *node->category)
      found[n++].name = node->category;
    else if (at == n)
      at = 0;
    found[at].work_ns = rd_sum (found[at].work_ns, node->work_ns);
  }
  for (size_t i = 0; i < n; i++)
    if (found[i].work_ns > 0)
      add_scalar (events, "work_seconds", found[i].name,
                  seconds_of (found[i].work_ns));
}

static void
add_figures (struct events *events, const struct radio_profile *profile)
{
  const struct radio_profile_info *info = &profile->info;
  begin_event (events, info->started_unix_ns);
  add_scalar (events, "radio", "wall_seconds", seconds_of (info->wall_ns));
  add_scalar (events, "radio", "work_seconds", seconds_of (info->work_ns));
  add_scalar (events, "radio", "no_cpu_seconds",
              seconds_of (info->starved_ns));
  add_scalar (events, "radio", "wait_seconds", seconds_of (info->wait_ns));
  add_categories (events, profile);
  for (size_t i = 0; i < profile->counters.n; i++)
    add_scalar (events, "counters", profile->counters.at[i].name,
                (double) rd_profile_counter_sum (profile, i));
  end_event (events, 0);
}

/* Runs and ranks, one event each. */
static void
add_parts (struct events *events, const struct radio_profile *profile)
{
  const char *group = profile->info.parts == RADIO_PARTS_RANKS ? "rank"
                                                               : "run";
  for (size_t i = 0; profile->parts.n > 1 && i < profile->parts.n; i++) {
    const struct rd_profile_part *part = &profile->parts.at[i];
    begin_event (events, part->started_unix_ns);
    add_scalar (events, group, "wall_seconds", seconds_of (part->wall_ns));
    add_scalar (events, group, "work_seconds", seconds_of (part->work_ns));
    add_scalar (events, group, "no_cpu_seconds",
                seconds_of (part->starved_ns));
    end_event (events, i);
  }
}

static void
free_events (struct events *events)
{
  rd_buffer_free (&events->event);
  rd_buffer_free (&events->summary);
  rd_buffer_free (&events->value);
}

enum radio_status
rd_export_events (const struct radio_profile *profile,
                  const struct radio_profile_write_options *options,
                  struct rd_writer *writer)
{
  static const char version[] = "brain.Event:2";
  (void) options;
  RD_CLEANUP (free_events) struct events events = { .writer = writer };
  begin_event (&events, profile->info.started_unix_ns);
  put_bytes (&events, &events.event, EVENT_VERSION, version,
             sizeof version - 1);
  if (events.status == RADIO_OK)
    write_event (&events);
  add_figures (&events, profile);
  add_parts (&events, profile);
  RD_TRY (events.status);
  return rd_writer_end (writer);
}

/*------------------------------------------------------------------------
 * The folder
 *----------------------------------------------------------------------*/

enum radio_status
rd_tensorboard_make_folder (const char *folder, bool overwrite, mode_t mode)
{
  /* Users who may read a file of this mode may enter the folder. */
  mode_t search = (mode & 0444) >> 2;
  if (mkdir (folder, mode | search) == 0)
    return RADIO_OK;
  struct stat st;
  if (errno != EEXIST || stat (folder, &st) != 0)
    return rd_fail_errno (errno, "%s", folder);
  if (!S_ISDIR (st.st_mode))
    return rd_fail (RADIO_ERROR_EXISTS, "%s: exists, and is not a folder",
                    folder);
  if (!overwrite)
    return rd_fail (RADIO_ERROR_EXISTS, "%s: exists already", folder);
  return RADIO_OK;
}

enum radio_status
rd_tensorboard_name (const struct radio_profile *profile, const char *folder,
                     enum radio_profile_format format, char *name,
                     size_t nbytes)
{
  uint64_t started_ns = profile->info.started_unix_ns;
  uint64_t pid = profile->parts.at[0].pid;
  int n = format == RADIO_PROFILE_KINETO
    ? snprintf (name, nbytes, "%s/radio_%" PRIu64 ".%" PRIu64
                ".pt.trace.json", folder, pid, started_ns)
    : snprintf (name, nbytes, "%s/events.out.tfevents.%" PRIu64 ".radio.%"
                PRIu64, folder, started_ns / 1000000000, pid);
  if (n < 0 || (size_t) n >= nbytes)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the name is too long", folder);
  return RADIO_OK;
}
