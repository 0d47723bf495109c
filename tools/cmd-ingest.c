/* SPDX-License-Identifier: MIT */
/* radio ingest: NIfTI files into the store.  All names are settled before
 * anything is written; after that a bad file costs only itself. */
#include <config.h>

#include <signal.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/files.h"
#include "tools/names.h"
#include "tools/progress.h"
#include "tools/text.h"

/* The first Ctrl-C ends the ingest in good order, the second one kills. */
static volatile sig_atomic_t interrupted_by;

static void
on_signal (int number)
{
  interrupted_by = number;
}

static void
catch_signals (void)
{
  struct sigaction action = { .sa_handler = on_signal,
                              .sa_flags = (int) SA_RESETHAND };
  sigemptyset (&action.sa_mask);
  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
}

struct ingest {
  const char *collection;
  bool quiet;
  bool overwrite, skip_existing;
  struct radio_ingest_options options;

  struct rd_files files;
  struct radio_store *store;
  struct rd_progress progress;
  const struct rd_file *current;
  size_t path_width;
  /* Of the files as they lie on the disk; skipped and failed ones are taken
   * out of the total, so that they do not count as work done. */
  uint64_t done_nbytes, total_nbytes, current_nbytes;

  size_t ningested, nskipped, nfailed;
  uint64_t source_nbytes, stored_nbytes;        /* decompressed, in tiles */
};

static void
take_option (struct ingest *ingest, int id, struct rd_args *args)
{
  switch (id) {
  case 'c':
    ingest->collection = args->value;
    break;
  case 'q':
    ingest->quiet = true;
    break;
  case RD_OPTION_TILING:
    ingest->options.tiling = args->value;
    break;
  case RD_OPTION_CODEC:
    ingest->options.codec = args->value;
    break;
  case RD_OPTION_OVERWRITE:
    ingest->overwrite = true;
    break;
  case RD_OPTION_SKIP_EXISTING:
    ingest->skip_existing = true;
    break;
  case RD_OPTION_STRIP:
    ingest->options.strip = true;
    break;
  }
}

static bool
parse (struct ingest *ingest, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    take_option (ingest, id, args);
  if (id < 0 || !rd_args_want (args, 1, SIZE_MAX, "FILE"))
    return false;
  if (ingest->overwrite && ingest->skip_existing) {
    rd_usage_error (args, "--overwrite and --skip-existing exclude each "
                    "other");
    return false;
  }
  if (ingest->overwrite)
    ingest->options.existing = RADIO_EXISTING_REPLACE;
  if (ingest->skip_existing)
    ingest->options.existing = RADIO_EXISTING_SKIP;
  return true;
}

/* Of a pair, the file that was named may be the small half: what is read
 * decides, so the whole is corrected when it becomes known. */
static enum radio_status
on_progress (const struct radio_progress *p, void *user_data)
{
  struct ingest *ingest = user_data;
  if (interrupted_by)
    return RADIO_ERROR_CANCELLED;
  ingest->total_nbytes += p->total_nbytes - ingest->current_nbytes;
  ingest->current_nbytes = p->total_nbytes;
  rd_progress_update (&ingest->progress, ingest->current->path,
                      ingest->done_nbytes + p->done_nbytes,
                      ingest->total_nbytes);
  return RADIO_OK;
}

static void
on_warning (const char *message, void *user_data)
{
  struct ingest *ingest = user_data;
  rd_progress_clear (&ingest->progress);
  const char *name = ingest->current->name;
  if (strstr (message, name) != NULL) {
    rd_warn (message);
    return;
  }
  RD_FREE char *text = rd_format ("%s: %s", name, message);
  rd_warn (text ? text : message);
}

static void
tell_done (struct ingest *ingest, const struct radio_ingest_result *result)
{
  char raw[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES], ratio[RD_TEXT_NBYTES];
  if (ingest->quiet)
    return;
  rd_progress_clear (&ingest->progress);
  const char *path = ingest->current->path;
  rd_text_print (stdout, path);
  printf ("%*s", (int) (ingest->path_width - rd_text_width (path)), "");
  if (result->skipped)
    puts ("  skipped: is there already");
  else
    printf ("  %8s -> %8s  %8s\n",
            rd_text_size (result->source_nbytes, raw),
            rd_text_size (result->stored_nbytes, stored),
            rd_text_ratio (result->source_nbytes, result->stored_nbytes,
                           ratio));
}

/* Files with bad names were told apart by rd_files_settle; the message is
 * made again here, in the order of the files. */
static enum radio_status
ingest_file (struct ingest *ingest, const struct rd_file *file,
             struct radio_ingest_result *result)
{
  RD_FREE char *unused = NULL;
  if (file->path == NULL)
    return radio_ingest_path (file->name, ingest->collection, &unused);
  return radio_ingest (ingest->store, file->name, file->path,
                       &ingest->options, result);
}

/* True when the next file is worth trying. */
static bool
ingest_one (struct ingest *ingest, const struct rd_file *file)
{
  struct radio_ingest_result result = { 0 };
  ingest->current = file;
  ingest->current_nbytes = file->nbytes;
  enum radio_status status = ingest_file (ingest, file, &result);
  if (status == RADIO_OK && !result.skipped)
    ingest->done_nbytes += ingest->current_nbytes;
  else
    ingest->total_nbytes -= ingest->current_nbytes;
  if (status == RADIO_OK) {
    tell_done (ingest, &result);
    ingest->nskipped += result.skipped;
    ingest->ningested += !result.skipped;
    ingest->source_nbytes += result.source_nbytes;
    ingest->stored_nbytes += result.stored_nbytes;
    return true;
  }
  rd_progress_clear (&ingest->progress);
  ingest->nfailed++;
  if (status == RADIO_ERROR_CANCELLED && interrupted_by) {
    rd_complain ("%s: interrupted, nothing of it was kept", file->name);
    return false;
  }
  if (status == RADIO_ERROR_EXISTS)
    rd_complain ("%s: %s is there already (see --skip-existing and "
                 "--overwrite)", file->name, file->path);
  else
    rd_complain_library (file->name);
  return status != RADIO_ERROR_NO_SPACE;
}

/* The rate is of the files' bytes, as that of the bar. */
static void
tell_summary (const struct ingest *ingest)
{
  char a[RD_TEXT_NBYTES], b[RD_TEXT_NBYTES], c[RD_TEXT_NBYTES];
  char d[RD_TEXT_NBYTES], e[RD_TEXT_NBYTES];
  double seconds = rd_clock_s () - ingest->progress.start_s;
  double per_s = (double) ingest->done_nbytes / (seconds + 1e-9);
  printf ("%zu volume%s", ingest->ningested,
          ingest->ningested == 1 ? "" : "s");
  if (ingest->ningested > 0)
    printf (", %s -> %s (%s) in %s, %s/s read",
            rd_text_size (ingest->source_nbytes, a),
            rd_text_size (ingest->stored_nbytes, b),
            rd_text_ratio (ingest->source_nbytes, ingest->stored_nbytes, c),
            rd_text_time (seconds, d), rd_text_size ((uint64_t) per_s, e));
  if (ingest->nskipped > 0)
    printf ("; %zu skipped", ingest->nskipped);
  if (ingest->nfailed > 0)
    printf ("; %zu failed", ingest->nfailed);
  putchar ('\n');
}

static void
measure (struct ingest *ingest)
{
  for (size_t i = 0; i < ingest->files.n; i++) {
    const struct rd_file *file = &ingest->files.list[i];
    size_t width = file->path ? rd_text_width (file->path) : 0;
    ingest->total_nbytes += file->nbytes;
    if (width > ingest->path_width)
      ingest->path_width = width;
  }
}

static int
ingest_all (struct ingest *ingest, const struct rd_args *args)
{
  for (size_t i = 0; i < args->noperands; i++)
    if (!rd_files_add (&ingest->files, args->operands[i]))
      return rd_complain_memory ();
  ingest->nfailed = ingest->files.nbad;
  if (!rd_files_settle (&ingest->files, ingest->collection))
    return RD_EXIT_FAILED;
  if (ingest->files.n == 0)
    return RD_EXIT_FAILED;
  int failed = rd_store_open (args, true, &ingest->store);
  if (failed)
    return failed;
  measure (ingest);
  catch_signals ();
  rd_progress_start (&ingest->progress, "read");
  for (size_t i = 0; i < ingest->files.n; i++)
    if (!ingest_one (ingest, &ingest->files.list[i]))
      break;
  rd_progress_clear (&ingest->progress);
  tell_summary (ingest);
  return ingest->nfailed ? RD_EXIT_FAILED : RD_EXIT_OK;
}

static int
run_ingest (struct rd_args *args)
{
  struct ingest ingest = { 0 };
  ingest.options.progress = on_progress;
  ingest.options.warning = on_warning;
  ingest.options.user_data = &ingest;
  if (!parse (&ingest, args))
    return args->status;
  int status = ingest_all (&ingest, args);
  radio_store_close (ingest.store);
  rd_files_clear (&ingest.files);
  /* Die of the signal after all, so that a shell's loop ends as well. */
  if (interrupted_by) {
    fflush (stdout);
    raise (interrupted_by);
  }
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { 'c', "collection", "NAME",
    "the collection (default: from a BIDS name its\n"
    "suffix, as T1w; else images)" },
  { RD_OPTION_TILING, "tiling", "TILING",
    "balanced (default), axial, isotropic, or the\n"
    "tile's size in voxels as X,Y,Z" },
  { RD_OPTION_CODEC, "codec", "CODEC",
    "small, medium (default), fast, none, or a JSON\n"
    "list of Zarr codecs" },
  { RD_OPTION_OVERWRITE, "overwrite", NULL,
    "replace volumes that are there already" },
  { RD_OPTION_SKIP_EXISTING, "skip-existing", NULL,
    "leave volumes that are there already" },
  { RD_OPTION_STRIP, "strip", NULL,
    "blank the header's free-text fields and drop its\n"
    "extensions, which may name the patient" },
  { 'q', "quiet", NULL, "print only the closing line" },
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_ingest = {
  .name = "ingest",
  .operands = "[OPTION]... FILE|FOLDER...",
  .summary = "put NIfTI images into a store",
  .description =
    "Puts NIfTI images (.nii, .nii.gz, .hdr with .img) into a store, which is "
    "made when it is not there. Folders are searched through. A volume's name "
    "comes from its file's, and appears when all of it is on the disk. A bad "
    "file is reported and does not stop the others; the exit status is 1 "
    "then.",
  .options = options,
  .examples =
    "radio ingest scans/*.nii.gz\n"
    "radio ingest -s study.zarr -c ct --skip-existing /data/ct\n"
    "radio ingest --codec small --tiling axial --strip a.nii.gz",
  .run = run_ingest,
};
