/* SPDX-License-Identifier: MIT */
/* One process stops and resumes while the other works. */
#include <config.h>

#include <pthread.h>

#include "tests/volume/beside.h"

struct scene {
  struct bucket_plan plan;
  pthread_t thread;
  bool was_started, was_joined;
  unsigned nlooks;            /* of the main one for tombstones */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct {
    bool is_stopped, may_resume, has_ended;
    enum radio_status status;
  } synced;
};

static void
stop_other (uint64_t n, const char *key, void *user_data)
{
  struct scene *scene = user_data;
  (void) key;
  if (n != scene->plan.stop)
    return;
  RD_LOCK_SCOPE (&scene->mutex);
  scene->synced.is_stopped = true;
  pthread_cond_broadcast (&scene->changed);
  while (!scene->synced.may_resume)
    pthread_cond_wait (&scene->changed, &scene->mutex);
}

static void *
run_other (void *user_data)
{
  struct scene *scene = user_data;
  struct radio_store *store = bucket_open (scene->plan.bucket, false,
                                           stop_other, scene);
  enum radio_status status = scene->plan.other (store);
  radio_store_close (store);
  RD_LOCK_SCOPE (&scene->mutex);
  scene->synced.status = status;
  scene->synced.has_ended = true;
  pthread_cond_broadcast (&scene->changed);
  return NULL;
}

static void
start_other (struct scene *scene)
{
  bucket_age (scene->plan.bucket, scene->plan.ages_s);
  scene->was_started = true;
  assert_int_equal (pthread_create (&scene->thread, NULL, run_other, scene),
                    0);
  RD_LOCK_SCOPE (&scene->mutex);
  while (!scene->synced.is_stopped && !scene->synced.has_ended)
    pthread_cond_wait (&scene->changed, &scene->mutex);
}

static void
end_other (struct scene *scene)
{
  if (!scene->was_started || scene->was_joined)
    return;
  pthread_mutex_lock (&scene->mutex);
  scene->synced.may_resume = true;
  pthread_cond_broadcast (&scene->changed);
  pthread_mutex_unlock (&scene->mutex);
  pthread_join (scene->thread, NULL);
  scene->was_joined = true;
}

static bool
is_search_for_tombstones (const char *key)
{
  const char *slash = strrchr (key, '/');
  return slash && strcmp (slash, "/.radio-gc") == 0;
}

static void
before_main_operation (uint64_t n, const char *key, void *user_data)
{
  struct scene *scene = user_data;
  if (n == scene->plan.start)
    start_other (scene);
  bool waits = scene->was_started && is_search_for_tombstones (key)
               && ++scene->nlooks == 3;
  if (n == scene->plan.resume || waits)
    end_other (scene);
}

bool
bucket_beside (const struct bucket_plan *plan,
               void (*run) (struct radio_store *store, void *user_data),
               void *user_data, uint64_t *nops)
{
  struct scene scene = { .plan = *plan };
  pthread_mutex_init (&scene.mutex, NULL);
  pthread_cond_init (&scene.changed, NULL);
  struct radio_store *store = bucket_open (plan->bucket, true,
                                           before_main_operation, &scene);
  run (store, user_data);
  *nops = bucket_count (store);
  radio_store_close (store);
  end_other (&scene);
  pthread_cond_destroy (&scene.changed);
  pthread_mutex_destroy (&scene.mutex);
  return scene.synced.is_stopped;
}
