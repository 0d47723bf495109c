/* SPDX-License-Identifier: MIT */
/* radio apply: writes volumes with a pipeline into a store.  The volumes and
 * the name of each result are determined before anything is written.  Reading
 * keeps few processors busy where slabs are small, so several volumes are
 * written at the same time. */
#include <config.h>

#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "tools/facts.h"
#include "tools/interrupt.h"
#include "tools/jobs.h"
#include "tools/json.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/rows.h"
#include "tools/text.h"

/* Half of the memory limit is for layers of tiles, which the volumes that are
 * written at the same time share.  The other half is for what each of them
 * takes besides: the slab that is written, two by which a statistic or the
 * source's checksum is computed, one layer in any case, and reading. */
#define LAYERS_SHARE 2
#define SLAB_SHARE 8
#define SLAB_MOST_NBYTES ((uint64_t) 16 << 20)
#define NSLABS 3
#define LAYER_NBYTES ((uint64_t) 8 << 20)
#define READ_NBYTES ((uint64_t) 4 << 20)
#define READ_URL_NBYTES ((uint64_t) 64 << 20)

/* A small volume takes no more than a multiple of its size, and a little. */
#define VOLUME_MEMORY_TIMES 6
#define VOLUME_MEMORY_LEAST_NBYTES ((uint64_t) 2 << 20)

/* A volume, the name of its result, and the outcome. */
struct item {
  struct rd_target *node;             /* not owned */
  char *to_path;
  enum radio_status status;
  char *message;                      /* NULL: none, or no memory for it */
  struct radio_ingest_result result;
  struct rd_progress_part part;       /* in bytes */
};

struct apply {
  const struct rd_args *args;
  const char *to_name, *collection;
  struct rd_nodes nodes;
  struct item *items;
  size_t n;
  struct radio_store *to;
  struct rd_row_changes rows;         /* of that */
  struct radio_ingest_options options;
  size_t path_width;
  struct rd_json_items json;
  struct rd_jobs jobs;

  /* Protected by the lock of jobs. */
  struct rd_progress progress;
  struct rd_progress_sum sum;         /* in bytes */
  struct rd_written written;
};

/*------------------------------------------------------------------------
 * Writing
 *----------------------------------------------------------------------*/

/* One volume, for its callbacks. */
struct job {
  struct apply *apply;
  struct item *item;
};

static enum radio_status
on_apply_progress (const struct radio_progress *p, void *user_data)
{
  const struct job *job = user_data;
  struct apply *apply = job->apply;
  struct item *item = job->item;
  if (rd_interrupted ())
    return RADIO_ERROR_CANCELLED;
  pthread_mutex_lock (&apply->jobs.mutex);
  rd_progress_update_part (&apply->progress, &apply->sum, &item->part,
                           item->to_path, p->done_nbytes, p->total_nbytes);
  pthread_mutex_unlock (&apply->jobs.mutex);
  return RADIO_OK;
}

static void
on_warning (const char *message, void *user_data)
{
  const struct job *job = user_data;
  pthread_mutex_lock (&job->apply->jobs.mutex);
  rd_progress_clear (&job->apply->progress);
  rd_warn (message);
  pthread_mutex_unlock (&job->apply->jobs.mutex);
}

static uint64_t
volume_memory_nbytes (const struct apply *apply, const struct rd_target *node)
{
  struct radio_volume_info info;
  uint64_t slab = rd_jobs_limit_nbytes (apply->args) / SLAB_SHARE;
  radio_volume_get_info (node->volume, &info);
  uint64_t raw = rd_raw_nbytes (&info.array);
  slab = slab < SLAB_MOST_NBYTES ? slab : SLAB_MOST_NBYTES;
  uint64_t most = NSLABS * slab + LAYER_NBYTES
                  + (rd_is_url (node->name) ? READ_URL_NBYTES : READ_NBYTES);
  if (raw > most / VOLUME_MEMORY_TIMES)
    return most;
  return VOLUME_MEMORY_LEAST_NBYTES + raw * VOLUME_MEMORY_TIMES;
}

static void
write_volume (void *data, size_t i)
{
  struct apply *apply = data;
  struct item *item = &apply->items[i];
  struct job job = { apply, item };
  struct radio_ingest_options options = apply->options;
  options.progress = on_apply_progress;
  options.warning = on_warning;
  options.user_data = &job;
  item->status = rd_node_try_open (item->node);
  if (item->status == RADIO_OK) {
    uint64_t memory_nbytes = volume_memory_nbytes (apply, item->node);
    rd_jobs_reserve (&apply->jobs, memory_nbytes);
    item->status = radio_ingest_volume (apply->to, item->node->volume,
                                        item->to_path, &options,
                                        &item->result);
    rd_jobs_release (&apply->jobs, memory_nbytes);
  }
  if (item->status != RADIO_OK)
    item->message = strdup (radio_error_message ());
  rd_node_close (item->node);
}

static bool
end_volume (void *data, size_t i)
{
  const struct apply *apply = data;
  return apply->items[i].status != RADIO_ERROR_NO_SPACE && !rd_interrupted ();
}

static void
report_failure (const struct item *item)
{
  const char *message = item->message ? item->message : "out of memory";
  if (item->status == RADIO_ERROR_CANCELLED && rd_interrupted ())
    rd_error ("%s: interrupted, nothing of it was kept; the same command "
              "resumes", item->to_path);
  else if (item->status == RADIO_ERROR_EXISTS
           && strstr (message, "exists already"))
    rd_error ("%s: exists already, of another source or pipeline; see "
              "--skip-existing and --overwrite", item->to_path);
  else
    rd_error_message (item->node->name, message);
}

static void
print_json (struct apply *apply, const struct item *item)
{
  struct json_object *object = json_object_new_object ();
  bool failed = item->status != RADIO_OK;
  rd_json_set_text (object, "path", item->to_path);
  rd_json_set_text (object, "source", item->node->name);
  rd_json_set_text (object, "outcome", failed ? "failed"
                    : item->result.skipped ? "skipped" : "written");
  rd_json_set_u64 (object, "raw_nbytes", item->result.source_nbytes);
  rd_json_set_u64 (object, "stored_nbytes", item->result.stored_nbytes);
  rd_json_set (object, "error", !failed ? NULL
               : rd_json_new_text (item->message ? item->message
                                                 : "out of memory"));
  rd_json_items_print (&apply->json, object);
}

static void
report_volume (void *data, size_t i)
{
  struct apply *apply = data;
  const struct item *item = &apply->items[i];
  const struct radio_ingest_result *result = &item->result;
  rd_progress_clear (&apply->progress);
  if (apply->args->json)
    print_json (apply, item);
  if (item->status != RADIO_OK) {
    apply->written.nfailed++;
    report_failure (item);
    return;
  }
  rd_written_add (&apply->written, result);
  rd_row_changes_add (&apply->rows, item->to_path);
  if (!apply->args->quiet && !apply->args->json)
    rd_written_print (item->to_path, apply->path_width, result);
}

/*------------------------------------------------------------------------
 * What to write
 *----------------------------------------------------------------------*/

/* The path of a result: of a file as ingest names it, of a volume its own name;
 * in its own collection unless one was named.  Allocated; NULL after an
 * error. */
static char *
name_result (const struct apply *apply, const struct rd_target *node)
{
  char *path;
  if (node->files) {
    if (radio_ingest_path (node->name, apply->collection, &path) == RADIO_OK)
      return path;
    rd_error_library (node->name);
    return NULL;
  }
  const char *slash = strrchr (node->path, '/');
  if (slash && !apply->collection) {
    const char *above = slash;
    while (above > node->path && above[-1] != '/')
      above--;
    return rd_format ("%s", above);
  }
  RD_FREE char *stem = *node->path ? NULL : rd_target_stem (node);
  return rd_format ("%s/%s", apply->collection ? apply->collection : "images",
                    slash ? slash + 1 : stem ? stem : node->path);
}

static int
compare_items (const void *a, const void *b)
{
  const struct item *x = a, *y = b;
  return strcmp (x->to_path, y->to_path);
}

/* Lists the volumes to write, sorted by the result's name. */
static int
find_items (struct apply *apply)
{
  int failed = rd_nodes_find (apply->args, RD_NODES_SOME, &apply->nodes);
  if (failed)
    return failed;
  apply->items = calloc (apply->nodes.n + 1, sizeof *apply->items);
  if (apply->items == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < apply->nodes.n; i++) {
    struct item *item = &apply->items[apply->n++];
    item->node = &apply->nodes.list[i];
    item->to_path = name_result (apply, item->node);
    if (item->to_path == NULL)
      return RD_EXIT_FAILED;
    size_t width = rd_text_columns (item->to_path);
    apply->path_width = width > apply->path_width ? width
                                                  : apply->path_width;
    /* Opened by the thread that writes the result. */
    rd_node_close (item->node);
  }
  qsort (apply->items, apply->n, sizeof *apply->items, compare_items);
  for (size_t i = 1; i < apply->n; i++)
    if (strcmp (apply->items[i - 1].to_path, apply->items[i].to_path) == 0)
      return rd_error ("'%s' and '%s' both map to %s; use a separate -c for "
                       "each", apply->items[i - 1].node->name,
                       apply->items[i].node->name, apply->items[i].to_path);
  return RD_EXIT_OK;
}

/* Gives large blocks back to the system when they are freed.  By default
 * glibc's allocator keeps such blocks for each thread once some were freed, and
 * the process has several times the memory that is in use. */
static void
keep_no_large_blocks (void)
{
#ifdef __GLIBC__
  (void) mallopt (M_MMAP_THRESHOLD, 1 << 20);
#endif
}

/* True if a volume with its pipeline can be opened; the first that can stays
 * open, for the thread that writes its result. */
static bool
some_opens (const struct apply *apply)
{
  for (size_t i = 0; i < apply->n; i++) {
    if (rd_node_try_open (apply->items[i].node) == RADIO_OK)
      return true;
    rd_node_close (apply->items[i].node);
  }
  return false;
}

/* Opens the store to write to; it is not created, and left NULL, if nothing can
 * be written. */
static int
open_target (struct apply *apply, const struct rd_args *to_args)
{
  if (some_opens (apply))
    return rd_store_open (to_args, true, &apply->to);
  enum radio_status status
    = rd_uri_open (to_args, rd_store_name (to_args), RD_URI_EXISTING,
                   &apply->to);
  return status == RADIO_OK || status == RADIO_ERROR_NOT_FOUND
    ? RD_EXIT_OK : rd_error_library (NULL);
}

static int
write_volumes (struct apply *apply)
{
  struct rd_args to_args = *apply->args;
  int failed = find_items (apply);
  if (failed)
    return failed;
  /* Making a store is cancelled by Ctrl-C, too. */
  rd_interrupt_catch_once ();
  if (apply->to_name)
    to_args.store = apply->to_name;
  failed = open_target (apply, &to_args);
  if (failed)
    return failed;
  apply->rows.store = apply->to;
  apply->rows.name = rd_store_name (&to_args);
  size_t nfrom = rd_nodes_nthreads (apply->args, &apply->nodes);
  size_t nto = rd_jobs_nthreads (apply->args, rd_store_name (&to_args));
  apply->jobs = (struct rd_jobs) {
    .n = apply->n,
    .nthreads = nfrom > nto ? nfrom : nto,
    .limit_nbytes = rd_jobs_limit_nbytes (apply->args) / LAYERS_SHARE,
    .run = write_volume,
    .end = end_volume,
    .report = report_volume,
    .data = apply,
  };
  keep_no_large_blocks ();
  apply->json.is_list = !apply->nodes.names_one;
  apply->sum.n = apply->n;
  rd_progress_start (&apply->progress, "written");
  if (!rd_jobs_run (&apply->jobs))
    return RD_EXIT_FAILED;
  rd_progress_clear (&apply->progress);
  failed = rd_row_changes_write (&apply->rows);
  if (apply->args->json)
    rd_json_items_end (&apply->json);
  else
    rd_written_print_sum (&apply->written,
                          rd_clock_s () - apply->progress.start_s,
                          apply->written.source_nbytes, "");
  return apply->written.nfailed ? RD_EXIT_FAILED : failed;
}

/* The first operand is the pipeline. */
static int
run_apply (struct rd_args *args)
{
  struct apply apply = { .args = args };
  int id;
  while ((id = rd_args_next (args)) > 0) {
    if (id == RD_OPTION_TO)
      apply.to_name = args->value;
    if (id == 'c')
      apply.collection = args->value;
    if (id == RD_OPTION_TILING)
      apply.options.tiling = args->value;
    if (id == RD_OPTION_CODEC)
      apply.options.codec = args->value;
  }
  if (id < 0
      || !rd_args_want (args, 2, SIZE_MAX,
                        args->noperands == 0 ? "PIPELINE" : "VOLUME")
      || !rd_args_existing (args, &apply.options.existing))
    return args->status;
  if (radio_pipeline_parse (args->operands[0], &args->pipeline) != RADIO_OK)
    return rd_usage_error (args, "%s", radio_error_message ());
  if (!rd_args_draw (args))
    return args->status;
  args->operands++;
  args->noperands--;
  int status = write_volumes (&apply);
  rd_row_changes_clear (&apply.rows);
  radio_store_close (apply.to);
  for (size_t i = 0; i < apply.n; i++) {
    free (apply.items[i].to_path);
    free (apply.items[i].message);
  }
  free (apply.items);
  rd_nodes_clear (&apply.nodes);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_TO, "to", "STORE",
    "the store to write to, which is created if needed\n"
    "(default: that of --store)" },
  { 'c', "collection", "NAME",
    "the collection of the results (default: that of\n"
    "each source)" },
  { RD_OPTION_TILING, "tiling", "TILING",
    "balanced (default), axial, isotropic, or the\n"
    "tile size in voxels as X,Y,Z" },
  { RD_OPTION_CODEC, "codec", "CODEC",
    "small, medium (default), fast, none, or a JSON\n"
    "list of Zarr codecs" },
  { RD_OPTION_OVERWRITE, "overwrite", NULL,
    "replace volumes of another source or pipeline" },
  { RD_OPTION_SKIP_EXISTING, "skip-existing", NULL,
    "skip volumes of another source or pipeline, too" },
  RD_DRAW_OPTION,
  RD_FILE_OPTIONS,
  RD_SINGLE_WRITER_OPTION,
  { 'q', "quiet", NULL, "print only the summary" },
  RD_JSON_NODES_OPTION,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_apply = {
  .name = "apply",
  .operands = "PIPELINE VOLUME|COLLECTION|FILE... [OPTION]...",
  .summary = "write the results of a pipeline to a store",
  .description =
    "Applies the operations of a pipeline (see radio(1)) to volumes of a "
    "store, or to NIfTI images in their files, and writes the results as "
    "volumes of the same names. Each records the pipeline and the SHA-256 of "
    "its source, and becomes visible once all of it is on disk. A volume that "
    "was made by the same pipeline from the same source is skipped, so the "
    "same command resumes a run that was interrupted.",
  .options = options,
  .examples =
    "radio apply 'reorient RAS | clamp -1000,400' ct -c ct-ras\n"
    "radio apply -s study.zarr 'znorm' ct/head --to train.zarr\n"
    "radio apply 'crop-or-pad 256' scans/*.nii.gz -c cropped",
  .run = run_apply,
};
