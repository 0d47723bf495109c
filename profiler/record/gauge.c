/* SPDX-License-Identifier: MIT */
/* Samples of gauges, thinned out as they become many. */
#include <config.h>

#include <stdlib.h>

#include "profiler/record/gauge.h"
#include "profiler/record/log.h"
#include "profiler/record/writer.h"

/* What a writer holds at most: 768 KiB. */
#define MAX_SAMPLES 32768

/* Which stretch of time, as long as the spacing, a time lies in. */
static uint64_t
slot_of (const struct rd_samples *samples, uint64_t time)
{
  return samples->spacing ? time / samples->spacing : time;
}

/* The sample of the same gauge in the same slot, among the first n; these
 * are in the order of their slots.  NULL if there is none. */
static struct rd_log_sample *
find_near (const struct rd_samples *samples, size_t n,
           const struct rd_log_sample *sample)
{
  uint64_t slot = slot_of (samples, sample->time);
  for (size_t i = n; i > 0; i--) {
    struct rd_log_sample *other = &samples->at[i - 1];
    if (slot_of (samples, other->time) < slot)
      return NULL;
    if (other->gauge == sample->gauge)
      return other;
  }
  return NULL;
}

/* Of each gauge keep the last sample of each slot. */
static void
thin_out (struct rd_samples *samples)
{
  size_t n = 0;
  for (size_t i = 0; i < samples->n; i++) {
    struct rd_log_sample sample = samples->at[i];
    struct rd_log_sample *near = find_near (samples, n, &sample);
    if (near)
      *near = sample;
    else
      samples->at[n++] = sample;
  }
  samples->dropped_count += samples->n - n;
  samples->n = n;
}

/* Make the slots longer until half of the room is free, or, with more
 * gauges than that, until they cannot be. */
static void
make_room (struct rd_samples *samples)
{
  if (samples->spacing == 0)
    samples->spacing =
      (samples->at[samples->n - 1].time - samples->at[0].time) / samples->n;
  if (samples->spacing == 0)
    samples->spacing = 1;
  thin_out (samples);
  while (samples->n > MAX_SAMPLES / 2
         && samples->spacing <= UINT64_MAX / 2) {
    samples->spacing *= 2;
    thin_out (samples);
  }
}

/* Room for one more; false without. */
static bool
grow (struct rd_samples *samples)
{
  if (rd_array_grow (&samples->at, &samples->capacity, samples->n,
                     MAX_SAMPLES, sizeof *samples->at))
    return true;
  if (samples->n == MAX_SAMPLES)
    make_room (samples);
  return samples->n < samples->capacity;
}

void
rd_samples_add (struct rd_samples *samples,
                const struct rd_log_sample *sample)
{
  struct rd_log_sample *near = samples->spacing
    ? find_near (samples, samples->n, sample)
    : NULL;
  if (near) {
    *near = *sample;
    samples->dropped_count++;
  }
  else if (grow (samples)) {
    samples->at[samples->n++] = *sample;
  }
  else {
    samples->dropped_count++;
  }
}

void
rd_samples_free (struct rd_samples *samples)
{
  free (samples->at);
  *samples = (struct rd_samples) { .at = NULL };
}

void
radio_gauge_set (const struct radio_counter *gauge, int64_t value)
{
  if (!radio_profile_is_on ())
    return;
  struct rd_writer_state *writer = rd_writer_current ();
  if (!writer || !rd_writer_enter (writer))
    return;
  struct rd_log_sample sample = {
    rd_clock_now (&writer->clock), value, gauge
  };
  if (!writer->recorder->tree_only)
    rd_samples_add (&writer->samples, &sample);
  rd_writer_leave (writer);
}
