/* SPDX-License-Identifier: MIT */
/* radio ingest: NIfTI files into the store.  All names are determined before
 * anything is written; after that a bad file does not stop the others.
 *
 * One thread inflates a file while the library's workers encode: that keeps
 * two processors busy at best, and none while a small volume is synced.  So
 * several files are ingested at the same time. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include <radio/profile.h>

#include "src/base/text.h"
#include "tools/ingest/files.h"
#include "tools/ingest/part.h"
#include "tools/interrupt.h"
#include "tools/jobs.h"
#include "tools/names.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/rows.h"
#include "tools/tables/bids.h"
#include "tools/text.h"

/* Upper bound of the memory of one file's layers; and of a small file: a
 * multiple of its size, which may be compressed, plus a constant. */
#define FILE_MEMORY_NBYTES ((uint64_t) 64 << 20)
#define FILE_MEMORY_TIMES 32
#define FILE_MEMORY_LEAST_NBYTES ((uint64_t) 2 << 20)

/* The outcome of a file. */
struct outcome {
  enum radio_status status;
  char *message;                      /* NULL: none, or no memory for it */
  struct radio_ingest_result result;
  uint64_t nbytes, done_nbytes;       /* of the file, as far as is known */
};

struct ingest {
  const struct rd_args *args;
  struct rd_naming naming;
  struct rd_part part;
  struct radio_ingest_options options;
  struct rd_npy_geometry geometry;    /* of .npy files */
  struct rd_found_files files;
  struct radio_store *store;
  struct outcome *outcomes;
  size_t path_width;
  uint64_t large_nbytes;              /* memory counted for a large file */
  struct rd_jobs jobs;

  /* Protected by the lock of jobs. */
  struct rd_progress progress;
  uint64_t done_nbytes, total_nbytes; /* of files that are ingested, not
                                         skipped, and have not failed */
  struct rd_written written;
  struct rd_row_changes rows;
  struct rd_bids tables;              /* to be imported */
  bool finds_tables;                  /* those of a BIDS data set, too */
  struct rd_import import;
  uint64_t read_nbytes;               /* of the files ingested */
};

/* One file, for its callbacks. */
struct job {
  struct ingest *ingest;
  size_t i;
};

/* Another thread may hold the lock while it prints. */
static void
lock_jobs (struct ingest *ingest)
{
  if (pthread_mutex_trylock (&ingest->jobs.mutex) == 0)
    return;
  RADIO_SCOPE_FULL ("lock", "queue", RADIO_SCOPE_WAIT);
  pthread_mutex_lock (&ingest->jobs.mutex);
}

/* The file named may be the small half of a pair: the total is corrected when
 * the size becomes known. */
static enum radio_status
on_ingest_progress (const struct radio_progress *p, void *user_data)
{
  const struct job *job = user_data;
  struct ingest *ingest = job->ingest;
  struct outcome *outcome = &ingest->outcomes[job->i];
  if (rd_interrupted ())
    return RADIO_ERROR_CANCELLED;
  lock_jobs (ingest);
  ingest->total_nbytes += p->total_nbytes - outcome->nbytes;
  ingest->done_nbytes += p->done_nbytes - outcome->done_nbytes;
  outcome->nbytes = p->total_nbytes;
  outcome->done_nbytes = p->done_nbytes;
  rd_progress_update (&ingest->progress, ingest->files.list[job->i].path,
                      ingest->done_nbytes, ingest->total_nbytes);
  pthread_mutex_unlock (&ingest->jobs.mutex);
  return RADIO_OK;
}

static void
on_warning (const char *message, void *user_data)
{
  const struct job *job = user_data;
  struct ingest *ingest = job->ingest;
  const char *name = ingest->files.list[job->i].name;
  lock_jobs (ingest);
  rd_progress_clear (&ingest->progress);
  if (strstr (message, name) != NULL) {
    rd_warn (message);
  } else {
    RD_FREE char *text = rd_format ("%s: %s", name, message);
    rd_warn (text ? text : message);
  }
  pthread_mutex_unlock (&ingest->jobs.mutex);
}

/* Small files mostly wait, for a network or for the disk to have a batch of
 * volumes; large ones keep a processor busy each. */
static uint64_t
file_memory_nbytes (const struct ingest *ingest, const struct rd_file *file)
{
  uint64_t nbytes = file->nbytes;
  if (nbytes == 0 || nbytes > FILE_MEMORY_NBYTES / FILE_MEMORY_TIMES)
    return ingest->large_nbytes;
  return FILE_MEMORY_LEAST_NBYTES + nbytes * FILE_MEMORY_TIMES;
}

/* Returns whether the process lacked descriptors. */
static bool
ingest_once (struct job *job)
{
  const struct ingest *ingest = job->ingest;
  const struct rd_file *file = &ingest->files.list[job->i];
  struct outcome *outcome = &ingest->outcomes[job->i];
  struct radio_ingest_options options = ingest->options;
  int errnum = 0;
  options.progress = on_ingest_progress;
  options.warning = on_warning;
  options.user_data = job;
  free (outcome->message);
  outcome->message = NULL;
  options.is_labels = file->is_labels;
  options.labels = file->labels;
  options.nlabels = file->nlabels;
  if (file->path == NULL) {
    outcome->status = RADIO_ERROR_ARGUMENT;
    outcome->message = strdup (file->message);
    return false;
  }
  if (rd_ends_with (file->name, ".npy"))
    outcome->status = rd_npy_ingest (ingest->store, file->name, file->path,
                                     &ingest->geometry, &options,
                                     &outcome->result, &outcome->message,
                                     &errnum);
  else {
    outcome->status = radio_ingest (ingest->store, file->name, file->path,
                                    &options, &outcome->result);
    errnum = outcome->status == RADIO_ERROR_IO ? radio_error_errno () : 0;
  }
  if (outcome->status != RADIO_OK && outcome->message == NULL)
    outcome->message = strdup (radio_error_message ());
  return errnum == EMFILE || errnum == ENFILE;
}

/* A file that reserves all memory is ingested alone. */
static void
ingest_file (void *data, size_t i)
{
  struct ingest *ingest = data;
  struct job job = { ingest, i };
  uint64_t memory_nbytes = file_memory_nbytes (ingest,
                                               &ingest->files.list[i]);
  rd_jobs_reserve (&ingest->jobs, memory_nbytes);
  bool lacks_descriptors = ingest_once (&job);
  rd_jobs_release (&ingest->jobs, memory_nbytes);
  if (!lacks_descriptors)
    return;
  rd_jobs_reserve (&ingest->jobs, ingest->jobs.limit_nbytes);
  (void) ingest_once (&job);
  rd_jobs_release (&ingest->jobs, ingest->jobs.limit_nbytes);
}

static bool
end_file (void *data, size_t i)
{
  struct ingest *ingest = data;
  const struct outcome *outcome = &ingest->outcomes[i];
  if (outcome->status == RADIO_OK && !outcome->result.skipped)
    ingest->done_nbytes += outcome->nbytes - outcome->done_nbytes;
  else {
    ingest->done_nbytes -= outcome->done_nbytes;
    ingest->total_nbytes -= outcome->nbytes;
  }
  return outcome->status != RADIO_ERROR_NO_SPACE && !rd_interrupted ();
}

static void
report_file (void *data, size_t i)
{
  struct ingest *ingest = data;
  const struct rd_file *file = &ingest->files.list[i];
  const struct outcome *outcome = &ingest->outcomes[i];
  const struct radio_ingest_result *result = &outcome->result;
  rd_progress_clear (&ingest->progress);
  if (outcome->status != RADIO_OK) {
    ingest->written.nfailed++;
    if (outcome->status == RADIO_ERROR_CANCELLED && rd_interrupted ())
      rd_error ("%s: interrupted, nothing of it was kept", file->name);
    else if (outcome->status == RADIO_ERROR_EXISTS)
      rd_error ("%s: %s exists already; see --skip-existing and "
                "--overwrite", file->name, file->path);
    else
      rd_error_message (file->name, outcome->message ? outcome->message
                                                     : "out of memory");
    return;
  }
  rd_written_add (&ingest->written, result);
  /* Also of one that is skipped: a killed ingest has left it without. */
  rd_row_changes_add (&ingest->rows, file->path);
  ingest->read_nbytes += result->skipped ? 0 : outcome->nbytes;
  if (!ingest->args->quiet)
    rd_written_print (file->path, ingest->path_width, result);
}

/* Reads the geometry of .npy files.  Returns an exit status; prints errors. */
static int
set_geometry (struct rd_args *args, const char *spacing, const char *affine,
              const char *like, struct rd_npy_geometry *geometry,
              struct rd_target *target)
{
  bool has_npy = false;
  int ngiven = (spacing != NULL) + (affine != NULL) + (like != NULL);
  if (ngiven > 1)
    return rd_usage_error (args, "--spacing, --affine and --like exclude each "
                           "other");
  for (size_t i = 0; i < args->noperands; i++)
    has_npy = has_npy || rd_ends_with (args->operands[i], ".npy");
  if (ngiven > 0 && !has_npy)
    return rd_usage_error (args, "--%s is for .npy files, none was given",
                           spacing ? "spacing" : affine ? "affine" : "like");
  if (spacing && !rd_parse_spacing (spacing, geometry->spacing))
    return rd_usage_error (args, "--spacing: '%s' is not X,Y,Z, three "
                           "positive numbers", spacing);
  geometry->is_given = ngiven > 0;
  if (affine)
    return rd_affine_read (affine, geometry->affine);
  if (like == NULL)
    return RD_EXIT_OK;
  int failed = rd_target_open (args, like, false, target);
  geometry->like = target->volume;
  return failed;
}

/* Opens the store, which is created only if there is a file to put into it.
 * Returns an exit status; prints errors. */
static int
open_store (struct ingest *ingest)
{
  const struct rd_found_files *files = &ingest->files;
  bool has_file = false;
  for (size_t i = 0; i < files->n; i++)
    has_file = has_file || files->list[i].inode != 0;
  if (has_file)
    return rd_store_open (ingest->args, true, &ingest->store);
  enum radio_status status
    = rd_uri_open (ingest->args, rd_store_name (ingest->args),
                   RD_URI_EXISTING, &ingest->store);
  if (status != RADIO_ERROR_NOT_FOUND)
    return status == RADIO_OK
           ? RD_EXIT_OK : rd_store_open (ingest->args, true, &ingest->store);
  struct stat st;
  for (size_t i = 0; i < files->n; i++)
    if (stat (files->list[i].name, &st) != 0)
      rd_error ("%s: %s", files->list[i].name, strerror (errno));
  return RD_EXIT_FAILED;
}

/* Imports the tables that were given or found. */
static int
import_tables (struct ingest *ingest)
{
  struct rd_bids *tables = &ingest->tables;
  if (tables->n == 0 || rd_interrupted ())
    return RD_EXIT_OK;
  tables->images = calloc (ingest->files.n + 1, sizeof *tables->images);
  if (tables->images == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < ingest->files.n; i++) {
    const struct rd_file *file = &ingest->files.list[i];
    if (ingest->outcomes[i].status == RADIO_OK)
      tables->images[tables->nimages++]
        = (struct rd_bids_image) { file->name, file->path };
  }
  return rd_bids_import (ingest->store, tables, &ingest->import,
                         ingest->args->quiet);
}

/* Finds the tables beside all images, also of other parts: so each part infers
 * the same types of columns. */
static bool
find_tables (struct ingest *ingest)
{
  const struct rd_found_files *files = &ingest->files;
  bool ok = true;
  for (size_t i = 0; ok && ingest->finds_tables && i < files->n; i++)
    ok = rd_bids_find (&ingest->tables, files->list[i].name);
  ingest->import.is_of_many = ingest->tables.n > 1;
  return ok;
}

/* Keeps the files of this process's part. */
static void
take_part (struct ingest *ingest)
{
  const struct rd_part *part = &ingest->part;
  struct rd_found_files *files = &ingest->files;
  size_t n = files->n, ntaken = 0;
  if (part->count == 0)
    return;
  for (size_t i = 0; i < n; i++) {
    struct rd_file *file = &files->list[i];
    if (rd_part_has (part, i))
      files->list[ntaken++] = *file;
    else
      rd_file_clear (file);
  }
  files->n = ntaken;
  if (!ingest->args->quiet)
    printf ("part %" PRIu64 " of %" PRIu64 ": %zu of %zu files\n",
            part->index + 1, part->count, ntaken, n);
}

static int
ingest_files (struct ingest *ingest)
{
  const struct rd_args *args = ingest->args;
  struct rd_found_files *files = &ingest->files;
  for (size_t i = 0; i < args->noperands; i++)
    if (!rd_files_add (files, args->operands[i]))
      return rd_error_memory ();
  if (!rd_files_name (files, &ingest->naming) || files->n == 0
      || !find_tables (ingest))
    return RD_EXIT_FAILED;
  int failed = rd_bids_check (&ingest->tables, &ingest->import);
  if (failed)
    return failed;
  take_part (ingest);
  if (files->n == 0)
    return RD_EXIT_OK;
  /* Making a store is cancelled by Ctrl-C, too. */
  rd_interrupt_catch_once ();
  failed = open_store (ingest);
  if (failed)
    return failed;
  ingest->rows.store = ingest->store;
  ingest->rows.name = rd_store_name (args);
  ingest->written.nfailed = files->nbad;
  ingest->outcomes = calloc (files->n, sizeof *ingest->outcomes);
  if (ingest->outcomes == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < files->n; i++) {
    const struct rd_file *file = &files->list[i];
    size_t width = file->path ? rd_text_columns (file->path) : 0;
    ingest->outcomes[i].nbytes = file->nbytes;
    ingest->total_nbytes += file->nbytes;
    if (width > ingest->path_width)
      ingest->path_width = width;
  }
  struct rd_jobs *jobs = &ingest->jobs;
  uint64_t limit = rd_jobs_limit_nbytes (args);
  size_t nlarge = rd_jobs_nthreads (args, rd_store_name (args));
  ingest->large_nbytes = limit / nlarge > FILE_MEMORY_NBYTES
                         ? limit / nlarge : FILE_MEMORY_NBYTES;
  *jobs = (struct rd_jobs) {
    .n = files->n,
    .nthreads = args->nthreads ? args->nthreads : RD_JOBS_MAX_THREADS,
    .limit_nbytes = limit,
    .run = ingest_file,
    .end = end_file,
    .report = report_file,
    .data = ingest,
  };
  rd_progress_start (&ingest->progress, "read");
  if (!rd_jobs_run (jobs))
    return RD_EXIT_FAILED;
  rd_progress_clear (&ingest->progress);
  failed = rd_row_changes_write (&ingest->rows);
  if (import_tables (ingest))
    failed = RD_EXIT_FAILED;
  /* The rate is of the bytes of the files, like that of the progress bar. */
  rd_written_print_sum (&ingest->written,
                        rd_clock_s () - ingest->progress.start_s,
                        ingest->read_nbytes, " read");
  return ingest->written.nfailed ? RD_EXIT_FAILED : failed;
}

/* Opens the layout; options of names exclude each other, except a pattern's
 * collection.  False after an error. */
static bool
check_naming (struct rd_args *args, struct rd_naming *naming,
              const char *layout, const char *pattern)
{
  const char *by = layout ? "layout" : pattern ? "pattern" : NULL;
  const char *other = layout && pattern ? "pattern"
    : naming->from != RD_FROM_EITHER ? "collection-from"
    : layout && naming->collection ? "collection" : NULL;
  if (by == NULL)
    by = naming->collection ? "collection" : NULL;
  if (by && other) {
    rd_usage_error (args, "--%s and --%s exclude each other", by, other);
    return false;
  }
  if (layout == NULL && pattern == NULL)
    return true;
  if (pattern && strchr (pattern, '{') == NULL) {
    rd_usage_error (args, "--pattern: '%s' has no {subject}", pattern);
    return false;
  }
  if (radio_layout_open (layout ? layout : pattern, &naming->layout)
      == RADIO_OK)
    return true;
  rd_usage_error (args, "--%s", radio_error_message ());
  return false;
}

static void
clear_ingest (struct ingest *ingest)
{
  rd_row_changes_clear (&ingest->rows);
  rd_import_clear (&ingest->import);
  rd_bids_clear (&ingest->tables);
  radio_store_close (ingest->store);
  for (size_t i = 0; ingest->outcomes && i < ingest->files.n; i++)
    free (ingest->outcomes[i].message);
  free (ingest->outcomes);
  rd_found_files_clear (&ingest->files);
  radio_layout_close (ingest->naming.layout);
}

static int
run_ingest (struct rd_args *args)
{
  static const char *const sources[] = { "name", "folder", NULL };
  static const char *const layouts[] = { "bids", "msd", "nnunet", NULL };
  RD_CLEANUP (clear_ingest) struct ingest ingest = { .args = args };
  struct rd_naming *naming = &ingest.naming;
  const char *layout = NULL, *pattern = NULL;
  const char *spacing = NULL, *affine = NULL, *like = NULL;
  struct rd_target target RD_CLOSE_TARGET = { 0 };
  int id;
  while ((id = rd_args_next (args)) > 0) {
    if (id == 'c')
      naming->collection = args->value;
    if (id == RD_OPTION_COLLECTION_FROM) {
      int choice = rd_args_choose (args, sources);
      if (choice < 0)
        return args->status;
      naming->from = choice == 0 ? RD_FROM_NAME : RD_FROM_FOLDER;
    }
    if (id == RD_OPTION_LAYOUT && rd_args_choose (args, layouts) < 0)
      return args->status;
    if (id == RD_OPTION_LAYOUT)
      layout = args->value;
    if (id == RD_OPTION_PATTERN)
      pattern = args->value;
    if (id == RD_OPTION_TABLE && !rd_bids_add (&ingest.tables, args->value))
      return RD_EXIT_FAILED;
    if (id == RD_OPTION_KEY)
      ingest.import.key = args->value;
    if (id == RD_OPTION_TYPE && !rd_import_take_type (args, &ingest.import))
      return args->status;
    if (id == RD_OPTION_FORCE)
      ingest.import.force = true;
    if (id == RD_OPTION_PART && !rd_part_take (args, &ingest.part))
      return args->status;
    if (id == RD_OPTION_TILING)
      ingest.options.tiling = args->value;
    if (id == RD_OPTION_CODEC)
      ingest.options.codec = args->value;
    if (id == RD_OPTION_STRIP)
      ingest.options.strip = true;
    if (id == RD_OPTION_SPACING)
      spacing = args->value;
    if (id == RD_OPTION_AFFINE)
      affine = args->value;
    if (id == RD_OPTION_LIKE)
      like = args->value;
  }
  if (id < 0 || !rd_args_want (args, 1, SIZE_MAX, "FILE")
      || !rd_args_existing (args, &ingest.options.existing))
    return args->status;
  for (size_t i = 0; i < args->noperands; i++)
    if (*args->operands[i] == '\0')
      return rd_usage_error (args, "an operand is empty; name a file or a "
                             "folder");
  if (!check_naming (args, naming, layout, pattern))
    return args->status;
  ingest.rows.makes_tables = naming->layout || ingest.tables.n > 0;
  ingest.finds_tables = layout && strcmp (layout, "bids") == 0;
  int status = set_geometry (args, spacing, affine, like, &ingest.geometry,
                             &target);
  if (status == RD_EXIT_OK)
    status = ingest_files (&ingest);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { 'c', "collection", "NAME",
    "the collection (default: the suffix of a BIDS\n"
    "name, as T1w; else images)" },
  { RD_OPTION_COLLECTION_FROM, "collection-from", "SOURCE",
    "name: as above; folder: the file's folder\n"
    "(default: name, but folder where files of\n"
    "different folders would be one volume)" },
  { RD_OPTION_LAYOUT, "layout", "LAYOUT",
    "name volumes by the data set's layout: bids, msd\n"
    "or nnunet, with the names of labels" },
  { RD_OPTION_PATTERN, "pattern", "PATTERN",
    "name volumes by a pattern of paths, as\n"
    "'images/{subject}_{channel}.nii.gz'" },
  { RD_OPTION_PART, "part", "K/N",
    "ingest the K-th of N parts of the files; auto:\n"
    "as Slurm or MPI say" },
  { RD_OPTION_TABLE, "table", "FILE",
    "then import a .tsv or .csv file into the table\n"
    "of subjects, or BIDS's *_sessions.tsv and\n"
    "*_scans.tsv into those of volumes; may be given\n"
    "again (found with --layout bids)" },
  { RD_OPTION_KEY, "key", "COLUMN",
    "its column of ids (default: participant_id or\n"
    "subject)" },
  { RD_OPTION_TYPE, "type", "COLUMN=TYPE",
    "bool, integer, float or text (default: by the\n"
    "file's sidecar or its values)" },
  { RD_OPTION_FORCE, "force", NULL,
    "the table's columns may get another type" },
  { RD_OPTION_TILING, "tiling", "TILING",
    "balanced (default), axial, isotropic, or the\n"
    "tile size in voxels as X,Y,Z" },
  { RD_OPTION_CODEC, "codec", "CODEC",
    "small, medium (default), fast, none, or a JSON\n"
    "list of Zarr codecs" },
  RD_EXISTING_OPTIONS,
  { RD_OPTION_STRIP, "strip", NULL,
    "blank the header's free-text fields and drop its\n"
    "extensions, which may identify the patient" },
  { RD_OPTION_SPACING, "spacing", "X,Y,Z",
    "the size of a voxel in mm, for .npy files" },
  { RD_OPTION_AFFINE, "affine", "FILE",
    "the affine, for .npy files: 3 or 4 rows of text,\n"
    "as numpy.savetxt writes it" },
  { RD_OPTION_LIKE, "like", "VOLUME",
    "a volume with the same geometry, for .npy files" },
  RD_SINGLE_WRITER_OPTION,
  { 'q', "quiet", NULL, "print only the summary" },
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_ingest = {
  .name = "ingest",
  .operands = "[OPTION]... FILE|FOLDER...",
  .summary = "add NIfTI images to a store",
  .description =
    "Adds NIfTI images (.nii, .nii.gz, .hdr with .img) to a store, which is "
    "created if needed. Folders are searched recursively. NumPy's arrays "
    "(.npy, axes x, y, z[, t[, c]]) are added, too, if they are named and "
    "their geometry is given. A volume is named "
    "after its file, and becomes visible once all of it is on disk. Files "
    "that fail are reported and do not stop the others; the exit status is "
    "then 1.",
  .options = options,
  .examples =
    "radio ingest -s study.zarr -c ct --skip-existing /data/ct\n"
    "radio ingest --layout nnunet --part auto Dataset042_Liver\n"
    "radio ingest -c labels sub-01.npy --like ct/sub-01",
  .run = run_ingest,
};
