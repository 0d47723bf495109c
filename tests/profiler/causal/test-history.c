/* SPDX-License-Identifier: MIT */
/* Thousands of random histories of scopes, handoffs and requests on several
 * threads, compared with the figures of a model. */
#include <config.h>

#include <stdlib.h>

#include "tests/profiler/causal/model.h"
#include "tests/profiler/causal/stage.h"

#define NHISTORIES 3000
#define NSTEPS 70
#define MAX_OPEN 40
#define MAX_HANDOFFS 6
#define MAX_REQUESTS 4

static const struct radio_site sites[] = {
  { "a", "x", "f", "f.c", 1, RADIO_SCOPE_WORK },
  { "b", "x", "f", "f.c", 2, RADIO_SCOPE_WORK },
  { "c", "y", "f", "f.c", 3, RADIO_SCOPE_WORK },
  { "wait", "y", "f", "f.c", 4, RADIO_SCOPE_WAIT },
};

static const struct radio_site request_site = {
  "request", "network", "f", "f.c", 5, RADIO_SCOPE_WORK
};

static const struct radio_site phases[] = {
  { "queued", "network", "f", "f.c", 6, RADIO_SCOPE_WORK },
  { "body", "network", "f", "f.c", 7, RADIO_SCOPE_WORK },
};

struct scope {
  uint64_t token;
  int run;
};

struct play {
  uint64_t random;
  struct stage stage;
  struct model model;
  struct scope open[STAGE_THREADS][MAX_OPEN];
  unsigned nopen[STAGE_THREADS];
  struct {
    struct radio_handoff handoff;
    int run;
  } handoffs[MAX_HANDOFFS];
  unsigned nhandoffs;
  struct {
    struct radio_async *async;
    int run, phase;
  } requests[MAX_REQUESTS];
  unsigned nrequests;
};

static unsigned
roll (struct play *play, unsigned sides)
{
  play->random = play->random * UINT64_C (6364136223846793005)
                 + UINT64_C (1442695040888963407);
  return (unsigned) (play->random >> 33) % sides;
}

static unsigned
here (const struct play *play)
{
  return play->stage.current;
}

static int
innermost (const struct play *play)
{
  unsigned t = here (play);
  return play->nopen[t] ? play->open[t][play->nopen[t] - 1].run
                        : MODEL_NONE;
}

static void
push_scope (struct play *play, uint64_t token, const struct radio_site *site,
            enum radio_edge edge, int parent, uint64_t submitted)
{
  unsigned t = here (play);
  assert_int_not_equal (token, 0);
  struct model_run run = {
    .site = site, .edge = edge, .parent = parent,
    .below = innermost (play), .thread = t,
    .begin = play->stage.now, .submitted = submitted,
  };
  play->open[t][play->nopen[t]++]
    = (struct scope) { token, model_begin (&play->model, &run) };
}

static void
begin_scope (struct play *play)
{
  const struct radio_site *site = &sites[roll (play, 4)];
  push_scope (play, radio_scope_begin (site), site, RADIO_EDGE_CALL,
              innermost (play), play->stage.now);
}

static void
end_scope (struct play *play)
{
  unsigned t = here (play);
  const struct scope *scope = &play->open[t][--play->nopen[t]];
  radio_scope_end (scope->token);
  model_end (&play->model, scope->run, play->stage.now, false);
}

static void
give (struct play *play)
{
  unsigned i = play->nhandoffs;
  if (i == MAX_HANDOFFS) {
    i = roll (play, MAX_HANDOFFS);
    radio_handoff_release (&play->handoffs[i].handoff);
  }
  else {
    play->nhandoffs++;
  }
  play->handoffs[i].run = innermost (play);
  radio_handoff_give (&play->handoffs[i].handoff);
  assert_non_null (play->handoffs[i].handoff.parent);
}

static void
receive (struct play *play)
{
  if (play->nhandoffs == 0)
    return;
  unsigned i = roll (play, play->nhandoffs);
  const struct radio_handoff *handoff = &play->handoffs[i].handoff;
  const struct radio_site *site = &sites[roll (play, 4)];
  push_scope (play, radio_scope_receive (handoff, site), site,
              RADIO_EDGE_HANDOFF, play->handoffs[i].run,
              handoff->submitted);
}

/*------------------------------------------------------------------------
 * Requests
 *----------------------------------------------------------------------*/

static void
begin_request (struct play *play)
{
  if (play->nrequests == MAX_REQUESTS)
    return;
  unsigned h = play->nhandoffs ? roll (play, 2 * play->nhandoffs) : 1;
  bool received = h < play->nhandoffs;
  const struct radio_handoff *handoff
    = received ? &play->handoffs[h].handoff : NULL;
  struct radio_async *async = received
    ? radio_async_receive (handoff, &request_site)
    : radio_async_begin (&request_site);
  assert_non_null (async);
  struct model_run run = {
    .site = &request_site, .edge = RADIO_EDGE_ASYNC,
    .parent = received ? play->handoffs[h].run : innermost (play),
    .below = MODEL_NONE, .thread = MODEL_REQUESTS,
    .begin = play->stage.now,
    .submitted = received ? handoff->submitted : play->stage.now,
  };
  unsigned i = play->nrequests++;
  play->requests[i].async = async;
  play->requests[i].run = model_begin (&play->model, &run);
  play->requests[i].phase = MODEL_NONE;
}

static void
model_end_phase (struct play *play, unsigned i, bool is_open)
{
  if (play->requests[i].phase != MODEL_NONE)
    model_end (&play->model, play->requests[i].phase, play->stage.now,
               is_open);
}

static void
enter_phase (struct play *play)
{
  if (play->nrequests == 0)
    return;
  unsigned i = roll (play, play->nrequests);
  const struct radio_site *phase = &phases[roll (play, 2)];
  radio_async_phase (play->requests[i].async, phase);
  model_end_phase (play, i, false);
  struct model_run run = {
    .site = phase, .edge = RADIO_EDGE_PHASE,
    .parent = play->requests[i].run, .below = MODEL_NONE,
    .thread = MODEL_REQUESTS,
    .begin = play->stage.now, .submitted = play->stage.now,
  };
  play->requests[i].phase = model_begin (&play->model, &run);
}

static void
end_request (struct play *play)
{
  if (play->nrequests == 0)
    return;
  unsigned i = roll (play, play->nrequests);
  radio_async_end (play->requests[i].async);
  model_end_phase (play, i, false);
  model_end (&play->model, play->requests[i].run, play->stage.now, false);
  play->requests[i] = play->requests[--play->nrequests];
}

/*------------------------------------------------------------------------
 * Histories
 *----------------------------------------------------------------------*/

static void
step (struct play *play)
{
  unsigned t = here (play), what = roll (play, 16);
  play->stage.now += roll (play, 4) ? roll (play, 100) : 0;
  if (roll (play, 3) == 0)
    stage_on (&play->stage, roll (play, STAGE_THREADS));
  t = here (play);
  /* Only the first thread is recorded before it receives a handoff. */
  bool is_recorded = t == 0 || play->nopen[t] > 0;
  if (what < 4 && play->nopen[t] > 0)
    end_scope (play);
  else if (what < 7 && play->nopen[t] < MAX_OPEN)
    receive (play);
  else if (what < 11 && is_recorded && play->nopen[t] < MAX_OPEN)
    begin_scope (play);
  else if (what < 13 && is_recorded)
    give (play);
  else if (what < 14 && is_recorded)
    begin_request (play);
  else if (what < 15)
    enter_phase (play);
  else
    end_request (play);
}

/* Ends the model's runs, as open. */
static struct radio_profile *
stop (struct play *play)
{
  struct radio_profile *profile = NULL;
  play->stage.now += roll (play, 3) * 17;
  for (unsigned i = 0; i < play->nrequests; i++) {
    model_end_phase (play, i, true);
    model_end (&play->model, play->requests[i].run, play->stage.now, true);
  }
  for (unsigned t = 0; t < STAGE_THREADS; t++) {
    for (unsigned i = play->nopen[t]; i > 0; i--)
      model_end (&play->model, play->open[t][i - 1].run, play->stage.now,
                 true);
  }
  assert_ok (radio_recorder_stop (play->stage.recorder, &profile));
  return profile;
}

/* Handles of a stopped recorder do nothing, but must be released. */
static void
release (struct play *play)
{
  for (unsigned i = 0; i < play->nhandoffs; i++) {
    struct radio_handoff *handoff = &play->handoffs[i].handoff;
    assert_int_equal (radio_scope_receive (handoff, &sites[0]), 0);
    radio_handoff_release (handoff);
    assert_null (handoff->parent);
  }
  for (unsigned i = 0; i < play->nrequests; i++) {
    radio_async_phase (play->requests[i].async, &phases[0]);
    radio_async_end (play->requests[i].async);
  }
  for (unsigned t = 0; t < STAGE_THREADS; t++) {
    stage_on (&play->stage, t);
    for (unsigned i = play->nopen[t]; i > 0; i--)
      radio_scope_end (play->open[t][i - 1].token);
  }
  stage_leave (&play->stage);
}

static void
check_sums (const struct radio_profile *profile)
{
  uint64_t work = 0, wait = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = radio_profile_get_node (profile, i);
    assert_true (node->self_ns <= node->total_ns);
    work += node->work_ns;
    wait += node->wait_ns;
  }
  assert_int_equal (work, profile->info.work_ns);
  assert_int_equal (wait, profile->info.wait_ns);
}

static void
play_history (uint64_t seed, unsigned nsteps)
{
  struct play *play = calloc (1, sizeof *play);
  assert_non_null (play);
  play->random = seed;
  struct radio_recorder_options options = { .max_spans = 4096 };
  stage_open (&play->stage, &options, 0);
  for (unsigned i = 0; i < nsteps; i++)
    step (play);
  struct radio_profile *profile = stop (play);
  model_check (&play->model, profile);
  check_sums (profile);
  release (play);
  radio_profile_close (profile);
  free (play);
}

static void
random_histories_agree_with_the_model (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= NHISTORIES; seed++)
    play_history (seed, NSTEPS);
}

static void
long_histories_agree_with_the_model (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 20; seed++)
    play_history (seed << 32, 600);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (random_histories_agree_with_the_model),
    cmocka_unit_test (long_histories_agree_with_the_model),
  };
  return run_recording_tests (tests);
}
