/* SPDX-License-Identifier: MIT */
/* radio ingest: NIfTI files into the store.  All names are settled before
 * anything is written; after that a bad file costs only itself. */
#include <config.h>

#include <signal.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/ingest-files.h"
#include "tools/names.h"
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
  bool overwrite, skip_existing;
  struct rd_ingest_files work;
  struct rd_files files;
};

static void
take_option (struct ingest *ingest, int id, struct rd_args *args)
{
  switch (id) {
  case 'c':
    ingest->work.collection = args->value;
    break;
  case 'q':
    ingest->work.quiet = true;
    break;
  case RD_OPTION_TILING:
    ingest->work.options.tiling = args->value;
    break;
  case RD_OPTION_CODEC:
    ingest->work.options.codec = args->value;
    break;
  case RD_OPTION_OVERWRITE:
    ingest->overwrite = true;
    break;
  case RD_OPTION_SKIP_EXISTING:
    ingest->skip_existing = true;
    break;
  case RD_OPTION_STRIP:
    ingest->work.options.strip = true;
    break;
  case RD_OPTION_SINGLE_WRITER:
    args->s3.single_writer = true;
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
    ingest->work.options.existing = RADIO_EXISTING_REPLACE;
  if (ingest->skip_existing)
    ingest->work.options.existing = RADIO_EXISTING_SKIP;
  return true;
}

/* The rate is of the files' bytes, as that of the bar. */
static void
tell_summary (const struct rd_ingest_files *work)
{
  char a[RD_TEXT_NBYTES], b[RD_TEXT_NBYTES], c[RD_TEXT_NBYTES];
  char d[RD_TEXT_NBYTES], e[RD_TEXT_NBYTES];
  double per_s = (double) work->read_nbytes / (work->seconds + 1e-9);
  printf ("%zu volume%s", work->ningested, work->ningested == 1 ? "" : "s");
  if (work->ningested > 0)
    printf (", %s -> %s (%s) in %s, %s/s read",
            rd_text_size (work->source_nbytes, a),
            rd_text_size (work->stored_nbytes, b),
            rd_text_ratio (work->source_nbytes, work->stored_nbytes, c),
            rd_text_time (work->seconds, d),
            rd_text_size ((uint64_t) per_s, e));
  if (work->nskipped > 0)
    printf ("; %zu skipped", work->nskipped);
  if (work->nfailed > 0)
    printf ("; %zu failed", work->nfailed);
  putchar ('\n');
}

static int
ingest_all (struct ingest *ingest, const struct rd_args *args)
{
  struct rd_ingest_files *work = &ingest->work;
  for (size_t i = 0; i < args->noperands; i++)
    if (!rd_files_add (&ingest->files, args->operands[i]))
      return rd_error_memory ();
  if (!rd_files_settle (&ingest->files, work->collection))
    return RD_EXIT_FAILED;
  if (ingest->files.n == 0)
    return RD_EXIT_FAILED;
  /* Making a store is to end in good order, too. */
  catch_signals ();
  int failed = rd_store_open (args, true, &work->store);
  if (failed)
    return failed;
  work->files = &ingest->files;
  work->nfailed = ingest->files.nbad;
  work->nthreads = args->nthreads;
  work->memory_nbytes = args->memory_nbytes;
  work->interrupted_by = &interrupted_by;
  rd_ingest_files (work);
  tell_summary (work);
  return work->nfailed ? RD_EXIT_FAILED : RD_EXIT_OK;
}

static int
run_ingest (struct rd_args *args)
{
  struct ingest ingest = { 0 };
  if (!parse (&ingest, args))
    return args->status;
  int status = ingest_all (&ingest, args);
  radio_store_close (ingest.work.store);
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
  { RD_OPTION_SINGLE_WRITER, "single-writer", NULL,
    "nobody else writes into the store: needed where a\n"
    "server of S3 cannot keep writers apart" },
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
