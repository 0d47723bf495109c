/* SPDX-License-Identifier: MIT */
/* Recorders with a clock of their own. */
#include <config.h>

#include "tests/profiler/record/history.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "src/base/cleanup.h"
#include "profiler/record/recorder.h"

static uint64_t
read_now (void *user_data)
{
  struct history *history = user_data;
  uint64_t now = atomic_load (&history->now);
  history_starve (history, atomic_exchange (&history->lost_next, 0));
  return now;
}

static uint64_t
read_cpu_ns (void *user_data)
{
  struct history *history = user_data;
  atomic_fetch_add (&history->ncpu_reads, 1);
  history_starve (history, atomic_exchange (&history->lost, 0));
  return atomic_load (&history->cpu_ns);
}

static uint64_t
read_starved_ns (void *user_data)
{
  struct history *history = user_data;
  atomic_fetch_add (&history->nstarved_reads, 1);
  uint64_t ns = atomic_load (&history->starved_ns);
  history_starve (history, atomic_exchange (&history->lost, 0));
  return ns;
}

static uint64_t
read_nsleeps (void *user_data)
{
  struct history *history = user_data;
  return atomic_load (&history->nsleeps);
}

static bool
is_runnable (void *user_data)
{
  struct history *history = user_data;
  return atomic_load (&history->is_runnable);
}

static void
start (struct history *history, const struct radio_recorder_options *options,
       struct rd_clock clock)
{
  clock.read = read_now;
  clock.read_cpu_ns = read_cpu_ns;
  clock.user_data = history;
  struct rd_recorder_setup setup = { .clock = clock, .scope_cost_ns = 1 };
  atomic_store (&history->now, 1000);
  atomic_store (&history->cpu_ns, 0);
  atomic_store (&history->ncpu_reads, 0);
  atomic_store (&history->starved_ns, 0);
  atomic_store (&history->lost, 0);
  atomic_store (&history->lost_next, 0);
  atomic_store (&history->is_runnable, false);
  atomic_store (&history->nsleeps, 0);
  atomic_store (&history->nstarved_reads, 0);
  assert_ok (rd_recorder_start (options, &setup, &history->recorder));
}

void
history_start_at (struct history *history,
                  const struct radio_recorder_options *options,
                  uint64_t ticks_per_us)
{
  start (history, options, (struct rd_clock) {
           .ticks_per_us = ticks_per_us });
}

void
history_start_saving (struct history *history,
                      const struct radio_recorder_options *options,
                      uint64_t least_wait_ns, uint64_t cpu_fresh_ns)
{
  start (history, options, (struct rd_clock) {
           .least_wait_ns = least_wait_ns, .cpu_fresh_ns = cpu_fresh_ns });
}

void
history_start_starving (struct history *history,
                        const struct radio_recorder_options *options,
                        uint64_t least_starved_ns)
{
  start (history, options, (struct rd_clock) {
           .read_starved_ns = read_starved_ns, .read_nsleeps = read_nsleeps,
           .is_runnable = is_runnable,
           .least_starved_ns = least_starved_ns });
}

void
history_start (struct history *history,
               const struct radio_recorder_options *options)
{
  history_start_at (history, options, 1000);
}

void
history_pass (struct history *history, uint64_t ticks)
{
  atomic_fetch_add (&history->now, ticks);
}

void
history_starve (struct history *history, uint64_t ticks)
{
  history_pass (history, ticks);
  atomic_fetch_add (&history->starved_ns, ticks);
}

void
history_sleep (struct history *history, uint64_t ticks)
{
  history_pass (history, ticks);
  atomic_fetch_add (&history->nsleeps, 1);
}

void
history_work (struct history *history, uint64_t ran, uint64_t starved)
{
  history_pass (history, ran);
  atomic_fetch_add (&history->cpu_ns, ran);
  history_starve (history, starved);
}

void
history_await_sleep (uint64_t os_tid)
{
  char path[64], text[4096], state = 'R';
  uint64_t nsleeps;
  snprintf (path, sizeof path, "/proc/%" PRIu64 "/status", os_tid);
  while (state != 'S') {
    RD_CLOSE_FD int fd = open (path, O_RDONLY);
    ssize_t n = read (fd, text, sizeof text - 1);
    assert_true (n > 0);
    text[n] = '\0';
    assert_true (rd_run_queue_parse_status (text, &state, &nsleeps));
    usleep (1000);
  }
}

void
history_leaf (struct history *history, const struct radio_site *site,
              uint64_t ticks)
{
  uint64_t token = radio_scope_begin (site);
  assert_true (token != 0);
  history_pass (history, ticks);
  radio_scope_end (token);
}

void
history_freeze (struct history *history)
{
  rd_recorder_freeze (history->recorder);
}

void
history_release (struct history *history)
{
  rd_recorder_release (history->recorder);
  history->recorder = NULL;
}

static const struct rd_writer_state *
writer_at (struct history *history, size_t i)
{
  assert_true (i < history->recorder->synced.writers.n);
  return history->recorder->synced.writers.at[i];
}

static struct rd_node *
child_named (const struct rd_writer_state *writer,
             const struct rd_node *parent, const char *name, size_t nbytes)
{
  for (size_t i = 1; i < writer->nnodes; i++) {
    struct rd_node *node = writer->nodes[i];
    if (node->parent == parent && node->site
        && strlen (node->site->name) == nbytes
        && memcmp (node->site->name, name, nbytes) == 0)
      return node;
  }
  return NULL;
}

struct rd_node *
history_find (struct history *history, size_t writer_number,
              const char *path)
{
  const struct rd_writer_state *writer = writer_at (history, writer_number);
  struct rd_node *node = writer->nodes[0];
  while (node && *path) {
    size_t nbytes = strcspn (path, "/");
    node = child_named (writer, node, path, nbytes);
    path += nbytes;
    path += *path == '/';
  }
  return node;
}

struct rd_node *
history_node (struct history *history, const char *path)
{
  struct rd_node *node = history_find (history, 0, path);
  if (!node)
    fail_msg ("there is no node %s", path);
  return node;
}

const struct rd_log_span *
history_span (struct history *history, size_t i)
{
  const struct rd_log_chunk *chunk = writer_at (history, 0)->log.first;
  size_t slot = 0;
  for (; chunk; chunk = chunk->next, slot = 0)
    for (; slot < chunk->nslots; i--) {
      const struct rd_log_span *span = &chunk->slots[slot].span;
      if (i == 0)
        return span;
      slot += rd_span_nslots (span);
    }
  return NULL;
}

const struct rd_log_span *
history_next_span (struct history *history, struct history_place *place)
{
  if (!place->chunk)
    place->chunk = writer_at (history, 0)->log.first;
  while (place->chunk && place->slot >= place->chunk->nslots)
    *place = (struct history_place) { place->chunk->next, 0 };
  if (!place->chunk)
    return NULL;
  const struct rd_log_span *span = &place->chunk->slots[place->slot].span;
  place->slot += rd_span_nslots (span);
  return span;
}

size_t
history_nspans (struct history *history)
{
  const struct rd_log_chunk *chunk = writer_at (history, 0)->log.first;
  size_t n = 0;
  for (; chunk; chunk = chunk->next)
    for (size_t i = 0; i < chunk->nslots; n++)
      i += rd_span_nslots (&chunk->slots[i].span);
  return n;
}

const char *
history_span_name (struct history *history, const struct rd_log_span *span)
{
  return writer_at (history, 0)->nodes[rd_span_node (span)]->site->name;
}
