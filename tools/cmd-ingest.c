/* SPDX-License-Identifier: MIT */
/* radio ingest: NIfTI files into the store.  All names are determined before
 * anything is written; after that a bad file does not stop the others.
 *
 * One thread inflates a file while the library's workers encode: that keeps
 * two processors busy at best, and none while a small volume is synced.  So
 * several files are ingested at the same time. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <radio/profile.h>

#include "src/base/text.h"
#include "tools/npy.h"
#include "tools/interrupt.h"
#include "tools/jobs.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/text.h"

/*------------------------------------------------------------------------
 * The files: found in folders, and named
 *----------------------------------------------------------------------*/

struct file {
  char *name;                 /* as the user would find it */
  char *path;                 /* the volume's; NULL: has no legal one */
  char *collection;           /* NULL: by the file's name */
  uint64_t nbytes;            /* on the disk; 0: unknown */
  dev_t device;
  ino_t inode;
};

struct files {
  struct file *list;
  size_t n, capacity;
  size_t nbad;                /* folders that could not be read; reported */
};

/* Deeper trees are probably loops. */
#define MAX_DEPTH 64

static bool
add_file (struct files *files, const char *name, const struct stat *st)
{
  if (files->n == files->capacity) {
    size_t capacity = files->capacity ? 2 * files->capacity : 64;
    struct file *list = reallocarray (files->list, capacity, sizeof *list);
    if (list == NULL)
      return false;
    files->list = list;
    files->capacity = capacity;
  }
  struct file file = { .name = strdup (name) };
  if (file.name == NULL)
    return false;
  if (st) {
    file.nbytes = st->st_size > 0 ? (uint64_t) st->st_size : 0;
    file.device = st->st_dev;
    file.inode = st->st_ino;
  }
  files->list[files->n++] = file;
  return true;
}

static int
is_visible (const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static int
in_byte_order (const struct dirent **a, const struct dirent **b)
{
  return strcmp ((*a)->d_name, (*b)->d_name);
}

/* Adds the images in and below a folder.  Folders that are links are not
 * followed: they could form a loop. */
static bool
add_folder (struct files *files, const char *name, int depth)
{
  struct dirent **entries;
  int n = depth < MAX_DEPTH
    ? scandir (name, &entries, is_visible, in_byte_order)
    : (errno = ELOOP, -1);
  if (n < 0) {
    rd_error ("%s: %s", name, strerror (errno));
    files->nbad++;
    return true;
  }
  bool slash = name[strlen (name) - 1] == '/';
  bool ok = true;
  for (int i = 0; i < n; i++) {
    RD_FREE char *below = rd_format ("%s%s%s", name, slash ? "" : "/",
                                     entries[i]->d_name);
    struct stat st;
    ok = ok && below != NULL;
    if (!ok || lstat (below, &st) != 0)
      ;
    else if (S_ISDIR (st.st_mode))
      ok = add_folder (files, below, depth + 1);
    else if (radio_ingest_is_image (below)) {
      if (stat (below, &st) != 0)
        ok = add_file (files, below, NULL);
      else if (S_ISREG (st.st_mode))
        ok = add_file (files, below, &st);
    }
    free (entries[i]);
  }
  free (entries);
  return ok;
}

/* Adds a file, or all images in and below a folder (in the byte order of
 * their names, without hidden ones).  False without memory. */
static bool
add_files (struct files *files, const char *name)
{
  struct stat st;
  if (stat (name, &st) != 0) {
    /* Maybe a pattern that no shell expanded, as from a list; one without
     * matches is a missing file. */
    glob_t found;
    int status = strpbrk (name, "*?[") ? glob (name, 0, NULL, &found)
                                       : GLOB_NOMATCH;
    if (status != 0)
      return status != GLOB_NOSPACE && add_file (files, name, NULL);
    bool ok = true;
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
      ok = stat (found.gl_pathv[i], &st) == 0
           ? add_files (files, found.gl_pathv[i])
           : add_file (files, found.gl_pathv[i], NULL);
    globfree (&found);
    return ok;
  }
  if (!S_ISDIR (st.st_mode))
    return add_file (files, name, &st);
  size_t before = files->n, bad = files->nbad;
  if (!add_folder (files, name, 0))
    return false;
  if (files->n == before && files->nbad == bad) {
    rd_error ("%s: no NIfTI images in this folder", name);
    files->nbad++;
  }
  return true;
}

/* The length of the stem of "a.hdr", "a.img.gz" and the like, or 0. */
static size_t
pair_stem (const char *name, bool *is_img)
{
  size_t n = strlen (name);
  if (rd_ends_with (name, ".gz"))
    n -= 3;
  if (n < 5)
    return 0;
  *is_img = strncasecmp (name + n - 4, ".img", 4) == 0;
  if (!*is_img && strncasecmp (name + n - 4, ".hdr", 4) != 0)
    return 0;
  return n - 4;
}

/* True if two names of one path are one image; *second if b is the one to
 * drop. */
static bool
same_image (const struct file *a, const struct file *b, bool *second)
{
  *second = true;
  if (a->inode != 0 && a->inode == b->inode && a->device == b->device)
    return true;
  bool a_img, b_img;
  size_t na = pair_stem (a->name, &a_img), nb = pair_stem (b->name, &b_img);
  if (na == 0 || na != nb || a_img == b_img
      || strncmp (a->name, b->name, na) != 0)
    return false;
  *second = b_img;
  return true;
}

static int
by_path (const void *a, const void *b)
{
  const struct file *x = *(struct file *const *) a;
  const struct file *y = *(struct file *const *) b;
  int order = strcmp (x->path, y->path);
  if (order != 0)
    return order;
  return (x > y) - (x < y);
}

static void
drop_file (struct file *file)
{
  free (file->name);
  free (file->path);
  free (file->collection);
  file->name = file->path = file->collection = NULL;
}

/* The source of a collection's name. */
enum collection_from { FROM_EITHER, FROM_NAME, FROM_FOLDER };

/* The name of the folder of a file; allocated, NULL without memory. */
static char *
folder_name (const char *file)
{
  const char *slash = strrchr (file, '/');
  RD_FREE char *folder = slash ? strndup (file, (size_t) (slash - file))
                               : strdup (".");
  char *base = folder ? strrchr (folder, '/') : NULL;
  const char *name = base ? base + 1 : folder;
  if (name == NULL)
    return NULL;
  if (*name && strcmp (name, ".") != 0 && strcmp (name, "..") != 0)
    return strdup (name);
  RD_FREE char *path = realpath (*folder ? folder : "/", NULL);
  base = path ? strrchr (path, '/') : NULL;
  return strdup (base ? base + 1 : "");
}

/* Names the volumes of all files; false without memory.  A file has no path if
 * it has no legal one. */
static bool
set_paths (struct files *files, const char *collection,
           enum collection_from from)
{
  for (size_t i = 0; i < files->n; i++) {
    struct file *file = &files->list[i];
    if (file->name == NULL)
      continue;
    free (file->path);
    free (file->collection);
    file->path = NULL;
    file->collection = collection ? strdup (collection)
      : from == FROM_FOLDER ? folder_name (file->name) : NULL;
    if (file->collection == NULL && (collection || from == FROM_FOLDER))
      return false;
    if (radio_ingest_path (file->name, file->collection, &file->path)
        != RADIO_OK)
      file->path = NULL;
  }
  return true;
}

/* True if two files would have volumes of different names with collections
 * named after their folders. */
static bool
differ_by_folder (const struct file *a, const struct file *b)
{
  RD_FREE char *x = folder_name (a->name), *y = folder_name (b->name);
  return x && y && strcmp (x, y) != 0;
}

/* Names every file's volume, drops duplicates (also an .img beside its .hdr),
 * and checks that no two files have the same path: false after an error.
 * Where two files of different folders have, as the images and labels of a
 * data set often do, all collections are named after folders. */
static bool
name_files (struct files *files, const char *collection,
            enum collection_from from)
{
  RD_FREE struct file **sorted = calloc (files->n + 1, sizeof *sorted);
  bool ok = true;
  size_t n = 0, nsorted = 0;
  if (sorted == NULL || !set_paths (files, collection, from))
    return rd_error_memory (), false;
  for (size_t i = 0; i < files->n; i++)
    if (files->list[i].path)
      sorted[nsorted++] = &files->list[i];
  qsort (sorted, nsorted, sizeof *sorted, by_path);
  for (size_t i = 0; i < nsorted; i++) {
    struct file *a = n ? sorted[n - 1] : NULL, *b = sorted[i];
    bool second;
    if (a && strcmp (a->path, b->path) == 0 && same_image (a, b, &second)) {
      sorted[n - 1] = second ? a : b;
      drop_file (second ? b : a);
    } else
      sorted[n++] = b;
  }
  for (size_t i = 1; i < n && collection == NULL && from == FROM_EITHER; i++) {
    const struct file *a = sorted[i - 1], *b = sorted[i];
    if (strcmp (a->path, b->path) != 0 || !differ_by_folder (a, b))
      continue;
    RD_FREE char *text = rd_format (
      "'%s' and '%s' both map to %s: collections are named after the "
      "folders (--collection-from=folder)", a->name, b->name, a->path);
    ok = text && name_files (files, NULL, FROM_FOLDER);
    if (ok)
      rd_warn (text);
    return ok;
  }
  for (size_t i = 1; i < n; i++) {
    const struct file *a = sorted[i - 1], *b = sorted[i];
    if (strcmp (a->path, b->path) != 0)
      continue;
    rd_error ("'%s' and '%s' both map to %s; use a separate -c for each",
              a->name, b->name, a->path);
    ok = false;
  }
  n = 0;
  for (size_t i = 0; i < files->n; i++)
    if (files->list[i].name)
      files->list[n++] = files->list[i];
  files->n = n;
  return ok;
}

static void
clear_files (struct files *files)
{
  for (size_t i = 0; i < files->n; i++)
    drop_file (&files->list[i]);
  free (files->list);
  memset (files, 0, sizeof *files);
}

/*------------------------------------------------------------------------
 * Ingesting them
 *----------------------------------------------------------------------*/

/* Upper bound of the memory of one file's layers; and that of a small file,
 * as a multiple of its size, which may be compressed, and besides that. */
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
  const char *collection;
  enum collection_from from;
  struct radio_ingest_options options;
  struct rd_npy_geometry geometry;    /* of .npy files */
  struct files files;
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
file_memory_nbytes (const struct ingest *ingest, const struct file *file)
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
  const struct file *file = &ingest->files.list[job->i];
  struct outcome *outcome = &ingest->outcomes[job->i];
  struct radio_ingest_options options = ingest->options;
  RD_FREE char *unused = NULL;
  int errnum = 0;
  options.progress = on_ingest_progress;
  options.warning = on_warning;
  options.user_data = job;
  free (outcome->message);
  outcome->message = NULL;
  /* A name without a legal path fails again here, for its message. */
  if (file->path == NULL)
    outcome->status
      = radio_ingest_path (file->name, file->collection, &unused);
  else if (rd_ends_with (file->name, ".npy"))
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
  const struct file *file = &ingest->files.list[i];
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
    return rd_usage_error (args, "--%s is for .npy files; there is none",
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
  const struct files *files = &ingest->files;
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

static int
ingest_files (struct ingest *ingest)
{
  const struct rd_args *args = ingest->args;
  struct files *files = &ingest->files;
  for (size_t i = 0; i < args->noperands; i++)
    if (!add_files (files, args->operands[i]))
      return rd_error_memory ();
  if (!name_files (files, ingest->collection, ingest->from)
      || files->n == 0)
    return RD_EXIT_FAILED;
  /* Making a store is cancelled by Ctrl-C, too. */
  rd_interrupt_catch_once ();
  int failed = open_store (ingest);
  if (failed)
    return failed;
  ingest->written.nfailed = files->nbad;
  ingest->outcomes = calloc (files->n, sizeof *ingest->outcomes);
  if (ingest->outcomes == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < files->n; i++) {
    const struct file *file = &files->list[i];
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
  /* The rate is of the bytes of the files, like that of the progress bar. */
  rd_written_print_sum (&ingest->written,
                        rd_clock_s () - ingest->progress.start_s,
                        ingest->read_nbytes, " read");
  return ingest->written.nfailed ? RD_EXIT_FAILED : RD_EXIT_OK;
}

static int
run_ingest (struct rd_args *args)
{
  static const char *const sources[] = { "name", "folder", NULL };
  struct ingest ingest = { .args = args };
  const char *spacing = NULL, *affine = NULL, *like = NULL;
  struct rd_target target RD_CLOSE_TARGET = { 0 };
  int id;
  while ((id = rd_args_next (args)) > 0) {
    if (id == 'c')
      ingest.collection = args->value;
    if (id == RD_OPTION_COLLECTION_FROM) {
      int choice = rd_args_choose (args, sources);
      if (choice < 0)
        return args->status;
      ingest.from = choice == 0 ? FROM_NAME : FROM_FOLDER;
    }
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
  if (ingest.collection && ingest.from != FROM_EITHER)
    return rd_usage_error (args, "--collection and --collection-from exclude "
                           "each other");
  int status = set_geometry (args, spacing, affine, like, &ingest.geometry,
                             &target);
  if (status == RD_EXIT_OK)
    status = ingest_files (&ingest);
  radio_store_close (ingest.store);
  for (size_t i = 0; ingest.outcomes && i < ingest.files.n; i++)
    free (ingest.outcomes[i].message);
  free (ingest.outcomes);
  clear_files (&ingest.files);
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
    "radio ingest scans/*.nii.gz\n"
    "radio ingest -s study.zarr -c ct --skip-existing /data/ct\n"
    "radio ingest -c labels sub-01.npy --like ct/sub-01",
  .run = run_ingest,
};
