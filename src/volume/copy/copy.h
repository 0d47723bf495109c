/* SPDX-License-Identifier: MIT */
/* The state of one copy of a volume.  Levels keep their names, which are
 * random, so that a later copy of the same volume finds the objects of an
 * earlier one, and no other volume's data. */
#ifndef RD_COPY_VOLUME_H
#define RD_COPY_VOLUME_H

#include <pthread.h>

#include <radio/copy.h>

#include "src/array/context.h"
#include "src/volume/strings.h"
#include "src/volume/volume.h"

/* The size of an object that an array need not have. */
#define RD_COPY_ABSENT UINT64_MAX

struct rd_copy_level {
  const char *name;                   /* in the copy's names */
  char *to_path;
  struct radio_array *array;          /* in the source */
  struct rd_buffer text;              /* its document */
  uint64_t first, n;                  /* of its objects among all */
  struct rd_io_lock *lock;            /* of the folder that is written */
};

struct rd_copy {
  struct radio_store *from, *to;
  const char *path, *to_path;
  const struct radio_copy_options *options;

  struct rd_buffer text;              /* the volume's document, */
  struct json_object *document;       /* parsed */
  struct radio_volume *volume;
  struct rd_strings names;            /* of its levels */
  struct rd_copy_level *levels;
  size_t nlevels;

  uint64_t nobjects;
  uint64_t *sizes;                    /* of the objects in the source */
  bool *was_there;                    /* they were not sent */
  bool *listed;                       /* they existed at the last listing, */
  bool has_listed;                    /* if there was one */
  uint64_t total_nbytes;
  uint64_t piece_nbytes;
  unsigned max_active;                /* objects that are written at once */

  /* The volume that is to be replaced names the same level, by the same
   * document or by another. */
  bool names_level, is_same;
  bool is_ours;               /* the copy is published, or may be */
  enum rd_header_key header_key;      /* as in struct rd_publication */
  bool header_is_last;
  bool skipped;

  pthread_t caller;
  atomic_bool cancelled;
  _Atomic uint64_t done_nbytes;
  _Atomic uint64_t sent_count, sent_nbytes, there_count, there_nbytes;
};

/* Read the documents of the source. */
enum radio_status rd_copy_load (struct rd_copy *copy) RADIO_USE_RESULT;

/* Blank the document and the header that were read, as
 * radio_copy_options.strip says. */
enum radio_status rd_copy_strip (struct rd_copy *copy) RADIO_USE_RESULT;

/* Fail because an object of the source does not exist: because the volume
 * was replaced or removed, or because it was lost. */
enum radio_status rd_copy_fail_missing (const struct rd_copy *copy,
                                        const char *key);

/* The i-th object, and its keys. */
struct rd_copy_object {
  uint64_t i;
  const struct rd_copy_level *level;
  uint64_t nbytes;
  char from_key[RD_KEY_NBYTES], to_key[RD_KEY_NBYTES];
};
void rd_copy_locate (const struct rd_copy *copy, uint64_t i,
                     struct rd_copy_object *object);

/* List which objects exist, a level at a time; does nothing where locks
 * exclude other processes, as checking each of them is as fast there. */
enum radio_status rd_copy_list_objects (struct rd_copy *copy)
  RADIO_USE_RESULT;

/* Copy one object, unless it exists. */
enum radio_status rd_copy_object (struct rd_copy *copy,
                                  const struct rd_copy_object *object,
                                  struct rd_scratch *scratch)
  RADIO_USE_RESULT;

/* Count nbytes as done and report progress.  RADIO_ERROR_CANCELLED when the
 * copy is to end. */
enum radio_status rd_copy_progress (struct rd_copy *copy, uint64_t nbytes)
  RADIO_USE_RESULT;

/* Check again that all objects exist, and copy those again that another
 * process removed meanwhile, which is possible where locks do not exclude
 * other processes (tombstones.h).  After publishing, the volume is complete
 * when this returns. */
enum radio_status rd_copy_recheck (struct rd_copy *copy) RADIO_USE_RESULT;

/* Run a task for each object. */
enum radio_status rd_copy_run_objects (struct rd_copy *copy,
                                       rd_task_fn *run,
                                       const struct radio_site *site,
                                       unsigned max_active)
  RADIO_USE_RESULT;

/* The job of rd_copy_run_objects. */
struct rd_copy_job {
  struct rd_job job;          /* first */
  struct rd_copy *copy;
};

/* Put a level's document, unless it exists. */
enum radio_status rd_copy_put_level (struct rd_copy *copy,
                                     const struct rd_copy_level *level)
  RADIO_USE_RESULT;

/* Check that an object of the copy's levels may be written.  A volume that
 * stays until it is replaced may name the same level: then only damaged
 * objects are rewritten, never those that it may be using otherwise. */
enum radio_status rd_copy_check_may_write (const struct rd_copy *copy,
                                           const char *key) RADIO_USE_RESULT;

#endif /* RD_COPY_VOLUME_H */
