/* SPDX-License-Identifier: MIT */
/* The stores that the benchmark measures.  An image is ingested into one
 * temporary store for each layout; an existing volume is measured in place.
 */
#include <config.h>

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "src/base/cpu-quota.h"
#include "tools/bench/layout.h"
#include "tools/facts.h"
#include "tools/interrupt.h"
#include "tools/parse.h"
#include "tools/text.h"

/* Layouts that are compared at a time. */
#define MAX_LAYOUTS 16

/*------------------------------------------------------------------------
 * Lists on the command line
 *----------------------------------------------------------------------*/

/* True if one more word of this length is allowed. */
static bool
has_room (struct rd_args *args, size_t length, size_t n)
{
  if (length > 0 && n < RD_MAX_LIST)
    return true;
  rd_usage_error (args, length ? "--%s: '%s' is more than can be compared at "
                  "a time" : "--%s: '%s' has an empty word",
                  args->option->name, args->value);
  return false;
}

bool
rd_list_add (struct rd_args *args, struct rd_list *words)
{
  for (const char *text = args->value;;) {
    size_t length = *text == '[' ? strlen (text) : strcspn (text, ",");
    bool number = *text >= '0' && *text <= '9';
    for (int i = 1; i < 3 && number && text[length] == ','; i++)
      length += 1 + strcspn (text + length + 1, ",");
    if (!has_room (args, length, words->n))
      return false;
    char *word = strndup (text, length);
    if (word == NULL) {
      args->status = rd_error_memory ();
      return false;
    }
    words->at[words->n++] = word;
    if (text[length] == '\0')
      return true;
    text += length + 1;
  }
}

void
rd_list_clear (struct rd_list *words)
{
  for (size_t i = 0; i < words->n; i++)
    free (words->at[i]);
  words->n = 0;
}

bool
rd_counts_parse (struct rd_args *args, struct rd_counts *counts)
{
  for (const char *text = args->value;;) {
    size_t length = strcspn (text, ",");
    uint64_t number;
    RD_FREE char *digits = strndup (text, length);
    if (!has_room (args, length, counts->n))
      return false;
    if (digits == NULL || !rd_parse_u64 (digits, &number) || number < 1
        || number > 1024) {
      rd_usage_error (args, "--%s: '%.*s' is not a number from 1 to 1024",
                      args->option->name, (int) length, text);
      return false;
    }
    counts->at[counts->n++] = (unsigned) number;
    if (text[length] == '\0')
      return true;
    text += length + 1;
  }
}

/*------------------------------------------------------------------------
 * Layouts
 *----------------------------------------------------------------------*/

/* Volumes that the loader chooses from: the number of those made for it, and
 * the most of a user's collection. */
#define NCOPIES 3
#define MAX_PATHS 256

int
rd_bench_make_volume (struct radio_store *store, const char *file,
                      const struct rd_subject_options *options,
                      const char *path, uint64_t *nbytes)
{
  const uint64_t *shape = options->shape;
  struct radio_ingest_result result = { 0 };
  struct radio_ingest_options ingest = {
    .tiling = options->tiling,
    .codec = options->codec,
    .progress = rd_interrupt_stop,
  };
  struct radio_phantom_options phantom = {
    .shape = { shape[0], shape[1], shape[2] },
    .ingest = ingest,
  };
  enum radio_status status = file
    ? radio_ingest (store, file, path, &ingest, &result)
    : radio_phantom (store, path, &phantom);
  if (nbytes)
    *nbytes = result.source_nbytes;
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  return rd_interrupted () ? RD_EXIT_FAILED : rd_error_library (file);
}

static bool
is_chosen (const struct rd_bench *bench, enum rd_row_kind kind)
{
  for (size_t i = 0; i < RD_NROWS; i++)
    if (bench->chosen[i] && rd_rows[i].kind == kind)
      return true;
  return false;
}

static enum radio_status
keep_path (const struct radio_entry *entry, void *user_data)
{
  struct rd_layout *layout = user_data;
  if (layout->npaths == MAX_PATHS)
    return RADIO_ERROR_CANCELLED;
  layout->paths[layout->npaths] = strdup (entry->path);
  if (layout->paths[layout->npaths] == NULL)
    return RADIO_ERROR_MEMORY;
  layout->npaths++;
  return RADIO_OK;
}

/* The arguments of the command with the store and the threads of a layout. */
static struct rd_args
args_of (const struct rd_bench *bench, const struct rd_layout *layout,
         const char *store)
{
  struct rd_args args = *bench->args;
  args.store = store;
  args.nthreads = layout->nthreads;
  if (layout->drawn)
    args.pipeline = layout->drawn;
  return args;
}

static int
open_layout (const struct rd_bench *bench, struct rd_layout *layout,
             const char *store, const char *volume)
{
  const struct rd_subject_options options = { 0 };
  struct rd_args args = args_of (bench, layout, store);
  int failed = rd_subject_open (&args, volume, &options, args.json,
                                &layout->subject);
  if (failed)
    return failed;
  struct rd_subject *subject = &layout->subject;
  layout->raw_nbytes = rd_raw_nbytes (&subject->info.array);
  if (radio_volume_stored_nbytes (subject->target.volume,
                                  &layout->stored_nbytes) != RADIO_OK)
    return rd_error_library (subject->target.name);
  if (is_chosen (bench, RD_ROW_LOADER)) {
    /* It reads the volumes of the volume's collection. */
    const char *path = subject->target.path;
    const char *slash = strrchr (path, '/');
    RD_FREE char *collection = rd_format ("%.*s", slash
                                          ? (int) (slash - path) : 0, path);
    layout->paths = calloc (MAX_PATHS, sizeof *layout->paths);
    if (collection == NULL || layout->paths == NULL)
      return rd_error_memory ();
    enum radio_status status = radio_store_list (
      subject->target.store, slash ? collection : NULL, keep_path, layout);
    if (status != RADIO_OK && status != RADIO_ERROR_CANCELLED)
      return rd_error_library (collection);
  }
  if (!is_chosen (bench, RD_ROW_INGEST))
    return RD_EXIT_OK;
  RD_FREE char *name = rd_format ("%s/scratch.zarr", bench->temp);
  if (name == NULL)
    return RD_EXIT_FAILED;
  args = args_of (bench, layout, name);
  return rd_store_open (&args, true, &layout->scratch);
}

/* Ingests the image, or the phantom, as often as the rows need it. */
static int
make_store (const struct rd_bench *bench, const struct rd_layout *layout)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  struct rd_args args = args_of (bench, layout, layout->store_name);
  struct rd_subject_options options = { .tiling = layout->tiling,
                                        .codec = layout->codec };
  size_t ncopies = is_chosen (bench, RD_ROW_LOADER) ? NCOPIES : 1;
  memcpy (options.shape, bench->shape, sizeof options.shape);
  args.nthreads = bench->args->nthreads;
  int failed = rd_store_open (&args, true, &store);
  for (size_t i = 0; i < ncopies && !failed; i++) {
    RD_FREE char *path = rd_format ("bench/%zu", i + 1);
    failed = path ? rd_bench_make_volume (store, bench->file, &options, path,
                                          NULL) : RD_EXIT_FAILED;
  }
  return failed;
}

int
rd_layouts_open (struct rd_bench *bench)
{
  bench->layouts = calloc (MAX_LAYOUTS, sizeof *bench->layouts);
  if (bench->layouts == NULL)
    return rd_error_memory ();
  if (bench->threads.n == 0)
    bench->threads.at[bench->threads.n++] = rd_count_cpus ();
  int failed = rd_temp_make (bench->args->store, &bench->temp);
  size_t ntilings = bench->tilings.n ? bench->tilings.n : 1;
  size_t ncodecs = bench->codecs.n ? bench->codecs.n : 1;
  size_t n = bench->threads.n * (bench->nvolumes ? bench->nvolumes
                                                 : ntilings * ncodecs);
  if (!failed && n > MAX_LAYOUTS)
    return rd_error ("tilings, codecs, volumes and threads make %zu layouts: "
                     "at most %d are compared at a time", n, MAX_LAYOUTS);
  /* Threads change fastest, then codecs.  A temporary store that is measured
   * with several numbers of threads is made for the first one. */
  for (size_t i = 0; i < n && !failed; i++) {
    struct rd_layout *layout = &bench->layouts[bench->nlayouts++];
    size_t thread = i % bench->threads.n, k = i / bench->threads.n;
    layout->nthreads = bench->threads.at[thread];
    if (bench->nvolumes) {
      failed = rd_args_draw_again (bench->args, k, &layout->drawn);
      if (failed)
        return failed;
      failed = open_layout (bench, layout, bench->args->store,
                            bench->volumes[k]);
      continue;
    }
    layout->tiling = bench->tilings.at[k / ncodecs];
    layout->codec = bench->codecs.at[k % ncodecs];
    layout->store_name = rd_format ("%s/layout-%zu.zarr", bench->temp, k);
    if (layout->store_name == NULL)
      return RD_EXIT_FAILED;
    if (thread == 0)
      failed = make_store (bench, layout);
    if (!failed)
      failed = open_layout (bench, layout, layout->store_name, "bench/1");
  }
  return failed;
}

void
rd_layouts_close (struct rd_bench *bench)
{
  for (size_t k = 0; k < bench->nlayouts; k++) {
    struct rd_layout *layout = &bench->layouts[k];
    rd_subject_close (&layout->subject);
    radio_store_close (layout->scratch);
    radio_pipeline_free (layout->drawn);
    free (layout->store_name);
    for (size_t i = 0; i < 2; i++)
      free (layout->sources[i]);
    for (size_t i = 0; i < layout->npaths; i++)
      free (layout->paths[i]);
    free (layout->paths);
    for (size_t i = 0; i < RD_NROWS; i++)
      free (layout->samples[i].seconds);
  }
  free (bench->layouts);
  rd_temp_remove (bench->temp);
  rd_destination_clear (&bench->destination);
}

bool
rd_is_compressed (const char *file)
{
  size_t n = strlen (file);
  return n > 3 && strcmp (file + n - 3, ".gz") == 0;
}

bool
rd_is_bench_image (const struct rd_args *args, const char *operand)
{
  return radio_ingest_is_image (operand)
         && (args->store == NULL || access (operand, F_OK) == 0);
}

const char *
rd_bench_source (struct rd_bench *bench, struct rd_layout *layout,
                 bool compressed)
{
  if (bench->file && rd_is_compressed (bench->file) == compressed)
    return bench->file;
  /* The first of the layouts that have the same image makes it. */
  size_t i = (size_t) (layout - bench->layouts);
  size_t first = bench->nvolumes ? i - i % bench->threads.n : 0;
  struct rd_layout *owner = &bench->layouts[first];
  if (owner->sources[compressed])
    return owner->sources[compressed];
  char *file = rd_format ("%s/image-%zu.nii%s", bench->temp,
                          first,
                          compressed ? ".gz" : "");
  owner->sources[compressed] = file;
  if (file == NULL)
    return NULL;
  struct rd_target *target = &owner->subject.target;
  if (radio_volume_export (target->volume, NULL, file, NULL) == RADIO_OK)
    return file;
  rd_error_library (target->name);
  return NULL;
}

char *
rd_layout_title (const struct rd_bench *bench,
                 const struct rd_layout *layout)
{
  const struct radio_volume_info *info = &layout->subject.info;
  const char *name = layout->subject.target.name;
  char threads[32] = "", tiling[RD_TILING_NBYTES];
  if (bench->threads.n > 1)
    snprintf (threads, sizeof threads, ", %u thread%s", layout->nthreads,
              rd_plural (layout->nthreads));
  return rd_format ("%s%s%s %s%s", bench->nvolumes > 1 ? name : "",
                    bench->nvolumes > 1 ? ", " : "",
                    *info->tiling ? rd_volume_tiling (info, tiling)
                                  : "unknown tiling",
                    *info->codec ? info->codec : "unknown codec", threads);
}
