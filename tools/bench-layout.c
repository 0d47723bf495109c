/* SPDX-License-Identifier: MIT */
/* The stores that the benchmark measures.  An image is ingested into one
 * temporary store for each layout; a volume that is there is measured where
 * it stands. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/bench-layout.h"
#include "tools/facts.h"
#include "tools/profile-temp.h"

/* Volumes that the loader has to choose from: those made for it, and at most
 * those of a user's collection. */
#define NCOPIES 3
#define MAX_PATHS 256

/* A volume of the temporary store, "bench/1". */
static char *
copy_path (size_t i)
{
  return rd_format ("bench/%zu", i + 1);
}

static enum radio_status
stop_when_interrupted (const struct radio_progress *p, void *user_data)
{
  (void) p;
  (void) user_data;
  return rd_interrupted () ? RADIO_ERROR_CANCELLED : RADIO_OK;
}

static int
make_volume (const struct rd_bench *bench, const struct rd_layout *layout,
             struct radio_store *store, const char *path)
{
  struct radio_ingest_options ingest = {
    .tiling = layout->tiling,
    .codec = layout->codec,
    .progress = stop_when_interrupted,
  };
  struct radio_phantom_options phantom = {
    .shape = { bench->shape[0], bench->shape[1], bench->shape[2] },
    .ingest = ingest,
  };
  enum radio_status status = bench->file
    ? radio_ingest (store, bench->file, path, &ingest, NULL)
    : radio_phantom (store, path, &phantom);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  return rd_interrupted () ? RD_EXIT_FAILED
                           : rd_complain_library (bench->file);
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

/* The volumes of the collection that the volume is in. */
static int
find_paths (struct rd_layout *layout)
{
  const char *path = layout->subject.target.path;
  const char *slash = strrchr (path, '/');
  RD_FREE char *collection = rd_format ("%.*s", slash ? (int) (slash - path)
                                        : 0, path);
  layout->paths = calloc (MAX_PATHS, sizeof *layout->paths);
  if (collection == NULL || layout->paths == NULL)
    return rd_complain_memory ();
  enum radio_status status = radio_store_list (
    layout->subject.target.store, slash ? collection : NULL, keep_path,
    layout);
  if (status == RADIO_OK || status == RADIO_ERROR_CANCELLED)
    return RD_EXIT_OK;
  return rd_complain_library (collection);
}

static int
describe (const struct rd_bench *bench, struct rd_layout *layout)
{
  struct rd_subject *subject = &layout->subject;
  layout->raw_nbytes = rd_raw_nbytes (&subject->info.array);
  if (radio_volume_stored_nbytes (subject->target.volume,
                                  &layout->stored_nbytes) != RADIO_OK)
    return rd_complain_library (subject->target.name);
  return is_chosen (bench, RD_ROW_LOADER) ? find_paths (layout)
                                          : RD_EXIT_OK;
}

static int
open_layout (const struct rd_bench *bench, struct rd_layout *layout,
             const char *store, const char *volume)
{
  const struct rd_subject_options options = { 0 };
  struct rd_args args = *bench->args;
  args.store = store;
  int failed = rd_subject_open (&args, volume, &options, bench->json,
                                &layout->subject);
  return failed ? failed : describe (bench, layout);
}

static int
make_layout (struct rd_bench *bench, struct rd_layout *layout)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  struct rd_args args = *bench->args;
  char *name = rd_format ("%s/layout-%zu.zarr", bench->temp,
                          (size_t) (layout - bench->layouts));
  layout->store_name = name;
  if (name == NULL)
    return RD_EXIT_FAILED;
  args.store = name;
  int failed = rd_store_open (&args, true, &store);
  size_t ncopies = is_chosen (bench, RD_ROW_LOADER) ? NCOPIES : 1;
  for (size_t i = 0; i < ncopies && !failed; i++) {
    RD_FREE char *path = copy_path (i);
    failed = path ? make_volume (bench, layout, store, path)
                  : RD_EXIT_FAILED;
  }
  return failed ? failed : open_layout (bench, layout, name, "bench/1");
}

/* Every tiling with every codec. */
static int
make_layouts (struct rd_bench *bench)
{
  size_t ntilings = bench->tilings.n ? bench->tilings.n : 1;
  size_t ncodecs = bench->codecs.n ? bench->codecs.n : 1;
  int failed = RD_EXIT_OK;
  if (ntilings * ncodecs > RD_MAX_LAYOUTS)
    return rd_complain ("%zu tilings with %zu codecs are more than %d "
                        "layouts, the most that are compared at one time",
                        ntilings, ncodecs, RD_MAX_LAYOUTS);
  for (size_t i = 0; i < ntilings * ncodecs && !failed; i++) {
    struct rd_layout *layout = &bench->layouts[bench->nlayouts++];
    layout->tiling = bench->tilings.at[i / ncodecs];
    layout->codec = bench->codecs.at[i % ncodecs];
    failed = make_layout (bench, layout);
  }
  return failed;
}

static int
open_scratch (struct rd_bench *bench)
{
  struct rd_args args = *bench->args;
  RD_FREE char *name = rd_format ("%s/scratch.zarr", bench->temp);
  args.store = name;
  return name ? rd_store_open (&args, true, &bench->scratch)
              : RD_EXIT_FAILED;
}

int
rd_layouts_open (struct rd_bench *bench)
{
  int failed = rd_temp_make (bench->args->store, &bench->temp);
  bench->layouts = calloc (RD_MAX_LAYOUTS, sizeof *bench->layouts);
  if (!failed && bench->layouts == NULL)
    failed = rd_complain_memory ();
  if (!failed && is_chosen (bench, RD_ROW_INGEST))
    failed = open_scratch (bench);
  if (failed)
    return failed;
  if (bench->file || bench->phantom)
    return make_layouts (bench);
  bench->nlayouts = 1;
  return open_layout (bench, &bench->layouts[0], bench->args->store,
                      bench->volume);
}

static void
close_layout (struct rd_layout *layout)
{
  rd_subject_close (&layout->subject);
  free (layout->store_name);
  for (size_t i = 0; i < layout->npaths; i++)
    free (layout->paths[i]);
  free (layout->paths);
  for (size_t i = 0; i < RD_NROWS; i++)
    free (layout->samples[i].seconds);
}

void
rd_layouts_close (struct rd_bench *bench)
{
  for (size_t i = 0; i < bench->nlayouts; i++)
    close_layout (&bench->layouts[i]);
  free (bench->layouts);
  for (size_t i = 0; i < 2; i++)
    free (bench->sources[i]);
  radio_store_close (bench->scratch);
  rd_temp_remove (bench->temp);
  rd_destination_clear (&bench->destination);
}

static bool
is_compressed (const char *file)
{
  size_t n = strlen (file);
  return n > 3 && strcmp (file + n - 3, ".gz") == 0;
}

const char *
rd_bench_source (struct rd_bench *bench, bool compressed)
{
  if (bench->file && is_compressed (bench->file) == compressed)
    return bench->file;
  if (bench->sources[compressed])
    return bench->sources[compressed];
  char *file = rd_format ("%s/image.nii%s", bench->temp,
                          compressed ? ".gz" : "");
  bench->sources[compressed] = file;
  if (file == NULL)
    return NULL;
  struct rd_target *target = &bench->layouts[0].subject.target;
  if (radio_volume_export (target->volume, NULL, file, NULL) == RADIO_OK)
    return file;
  rd_complain_library (target->name);
  return NULL;
}
