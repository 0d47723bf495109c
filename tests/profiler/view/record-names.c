/* SPDX-License-Identifier: MIT */
/* Records a profile in which every name is one of the given ones: those of
 * the profile, of nested scopes (each also within itself), categories,
 * counters, texts, gauges, requests and their phases, threads and facts.
 * Writes it as a page and as JSON.  tests/interop/test_page_names.py runs it.
 *
 *   record-names OUT.html OUT.json NAME... */
#include <config.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <radio/radio.h>

struct named {
  const char *name;
  struct radio_site site;
  struct radio_counter counter;
  struct radio_handoff handoff;
};

static void *
run_thread (void *data)
{
  struct named *named = data;
  radio_thread_name (named->name);
  uint64_t scope = radio_scope_receive (&named->handoff, &named->site);
  radio_scope_end (scope);
  return NULL;
}

static int
hand_on (struct named *named)
{
  pthread_t thread;
  radio_handoff_give (&named->handoff);
  if (pthread_create (&thread, NULL, run_thread, named)
      || pthread_join (thread, NULL))
    return 1;
  radio_handoff_release (&named->handoff);
  return 0;
}

static void
request (const struct named *named)
{
  struct radio_async *async = radio_async_begin (&named->site);
  radio_async_phase (async, &named->site);
  radio_async_text (async, named->name, named->name, RADIO_TEXT_PLAIN);
  radio_async_add (async, &named->counter, 3);
  radio_async_end (async);
}

/* Nests each name within itself, and the next name within that. */
static int
nest (struct named *named, size_t n)
{
  if (n == 0)
    return 0;
  uint64_t outer = radio_scope_begin (&named->site);
  uint64_t inner = radio_scope_begin (&named->site);
  radio_scope_text (named->name, named->name, RADIO_TEXT_PLAIN);
  radio_scope_text ("a file", named->name, RADIO_TEXT_NAME);
  radio_scope_add (&named->counter, 5);
  radio_gauge_set (&named->counter, (int64_t) n);
  radio_scope_instant (&named->site);
  request (named);
  int failed = hand_on (named) || nest (named + 1, n - 1);
  radio_scope_end (inner);
  radio_scope_end (outer);
  return failed;
}

static int
record (struct named *named, size_t n, struct radio_profile **profile)
{
  const struct radio_recorder_options options = { .title = named->name };
  struct radio_recorder *recorder;
  if (radio_recorder_start (&options, &recorder) != RADIO_OK)
    return 1;
  int failed = nest (named, n);
  for (size_t i = 0; i < n; i++)
    failed |= radio_recorder_fact (recorder, named[i].name, named[i].name,
                                   RADIO_TEXT_PLAIN) != RADIO_OK;
  return radio_recorder_stop (recorder, profile) != RADIO_OK || failed;
}

int
main (int argc, char **argv)
{
  struct radio_profile *profile = NULL;
  size_t n = argc > 3 ? (size_t) argc - 3 : 0;
  struct named *named = calloc (n + 1, sizeof *named);
  if (n == 0 || named == NULL)
    return 2;
  for (size_t i = 0; i < n; i++) {
    const char *name = named[i].name = argv[i + 3];
    named[i].site = (struct radio_site) {
      .name = name, .category = name, .function = name, .file = name,
      .line = 1,
    };
    named[i].counter = (struct radio_counter) { name, "bytes" };
  }
  int failed = record (named, n, &profile);
  for (int i = 1; i < 3 && !failed; i++)
    failed = radio_profile_write (profile, argv[i], NULL) != RADIO_OK;
  if (failed)
    fprintf (stderr, "record-names: %s\n", radio_error_message ());
  radio_profile_close (profile);
  free (named);
  return failed;
}
