/* SPDX-License-Identifier: MIT */
/* radio export: volumes, or any Zarr v3 array, into files.
 * radio roi: a box of each volume into a file. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/text.h"
#include "tools/facts.h"
#include "tools/interrupt.h"
#include "tools/jobs.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/text.h"

static const char *const formats[] = { "nii.gz", "nii", "npy", NULL };

struct export {
  const char *file;           /* or a folder */
  const char *format;         /* of the files in a folder */
  bool is_folder;
  struct rd_box_options box;
  struct radio_export_options options;
};

static bool
is_folder (const char *name)
{
  struct stat st;
  size_t n = strlen (name);
  return (n > 0 && name[n - 1] == '/')
         || (stat (name, &st) == 0 && S_ISDIR (st.st_mode));
}

static bool
parse_members (struct rd_args *args, struct export *export)
{
  uint64_t *nbytes = &export->options.member_nbytes;
  if (rd_parse_size (args->value, nbytes) && *nbytes >= 65536
      && *nbytes <= 64 << 20)
    return true;
  rd_usage_error (args, "--members: '%s' is not a size from 64K to 64M",
                  args->value);
  return false;
}

static bool
parse_export (struct rd_args *args, struct export *export)
{
  int id, choice;
  while ((id = rd_args_next (args)) > 0) {
    if (rd_box_take (args, id, &export->box) < 0)
      return false;
    if (id == 'o')
      export->file = args->value;
    if (id == RD_OPTION_MEMBERS && !parse_members (args, export))
      return false;
    if (id == RD_OPTION_SCALED)
      export->options.scaled = true;
    if (id == RD_OPTION_FORMAT) {
      choice = rd_args_choose (args, formats);
      if (choice < 0)
        return false;
      export->format = formats[choice];
    }
  }
  if (id < 0
      || !rd_args_want (args, !rd_args_selects (args), SIZE_MAX, "VOLUME")
      || !rd_box_consistent (args, &export->box))
    return false;
  export->options.overwrite = args->overwrite;
  if (export->file == NULL) {
    rd_usage_error (args, "-o FILE is missing");
    return false;
  }
  export->is_folder = is_folder (export->file);
  if (export->options.member_nbytes > 0
      && (export->is_folder ? export->format
                              && strcmp (export->format, "nii.gz") != 0
                            : !rd_has_suffix (export->file, ".gz"))) {
    rd_usage_error (args, "--members: only .nii.gz files have members");
    return false;
  }
  if (!export->is_folder && export->format) {
    rd_usage_error (args, "--format: is for files in a folder, and '%s' is not "
                    "a folder", export->file);
    return false;
  }
  if (!export->is_folder)
    return rd_output_check (args, export->file, false,
                            export->options.scaled);
  if (export->format == NULL)
    export->format = export->options.scaled ? "npy" : formats[0];
  if (!export->options.scaled || strcmp (export->format, "npy") == 0)
    return true;
  rd_usage_error (args, "--scaled: only .npy files can hold scaled values");
  return false;
}

/* The name of a node's file in a folder, without its suffix: "ct/sub-01".
 * Allocated; NULL after an error. */
static char *
stem_in_folder (const struct rd_target *node)
{
  return *node->path ? rd_format ("%s", node->path) : rd_target_stem (node);
}

struct named {
  char *stem;
  const struct rd_target *node;
};

static int
compare_named (const void *a, const void *b)
{
  return strcmp (((const struct named *) a)->stem,
                 ((const struct named *) b)->stem);
}

/* Fails if two nodes would become one file. */
static int
check_files (const struct export *export, const struct rd_nodes *nodes)
{
  RD_FREE struct named *named = calloc (nodes->n + 1, sizeof *named);
  int failed = named ? RD_EXIT_OK : rd_error_memory ();
  size_t n = 0;
  for (; !failed && n < nodes->n; n++) {
    named[n].node = &nodes->list[n];
    named[n].stem = stem_in_folder (named[n].node);
    failed = named[n].stem ? RD_EXIT_OK : RD_EXIT_FAILED;
  }
  if (!failed)
    qsort (named, n, sizeof *named, compare_named);
  for (size_t i = 1; i < n && !failed; i++)
    if (compare_named (&named[i - 1], &named[i]) == 0)
      failed = rd_error ("'%s' and '%s' both become %s.%s; write each into a "
                         "folder of its own", named[i - 1].node->name,
                         named[i].node->name, named[i].stem, export->format);
  for (size_t i = 0; i < n; i++)
    free (named[i].stem);
  return failed;
}

/* The file of a node in the folder: FOLDER/COLLECTION/NAME.FORMAT, allocated;
 * folders are created as needed.  NULL after an error. */
static char *
file_in_folder (const struct export *export, const struct rd_target *node)
{
  size_t n = strlen (export->file);
  RD_FREE char *stem = stem_in_folder (node);
  char *file = stem == NULL ? NULL
    : rd_format ("%s%s%s.%s", export->file,
                 export->file[n - 1] == '/' ? "" : "/", stem,
                 export->format);
  if (file == NULL)
    return NULL;
  /* Others' stores may have any names. */
  RD_FREE char *guarded = rd_format ("/%s/", stem);
  if (guarded == NULL || strstr (guarded, "/../") || strstr (guarded, "//")) {
    rd_error ("%s: not a name for a file", node->name);
    free (file);
    return NULL;
  }
  for (char *slash = strchr (file + 1, '/'); slash;
       slash = strchr (slash + 1, '/')) {
    *slash = '\0';
    bool made = mkdir (file, 0777) == 0 || errno == EEXIST;
    if (!made)
      rd_error ("%s: cannot be created: %s", file, strerror (errno));
    *slash = '/';
    if (!made) {
      free (file);
      return NULL;
    }
  }
  return file;
}

static int
export_volume (const struct export *export, const struct rd_target *target,
               char **details)
{
  struct radio_volume_info info;
  struct radio_box box;
  bool has_box = rd_box_given (&export->box);
  radio_volume_get_info (target->volume, &info);
  int failed = has_box ? rd_box_resolve (&export->box, target->name, info.axes,
                                         info.array.shape, &box)
                       : RD_EXIT_OK;
  return failed ? failed
    : rd_output_volume (target, has_box ? &box : NULL, export->file,
                        &export->options, details);
}

static int
export_array (const struct export *export, const struct rd_target *target,
              char **details)
{
  struct radio_array_info info;
  char axes[RADIO_MAX_RANK + 1];
  struct radio_box box;
  bool has_box = rd_box_given (&export->box);
  if (!rd_has_suffix (export->file, ".npy") || export->options.scaled)
    return rd_error ("%s: an array, not a volume: it goes into .npy files "
                     "only, as stored", target->name);
  radio_array_get_info (target->array, &info);
  rd_array_axes (&info, axes);
  int failed = has_box ? rd_box_resolve (&export->box, target->name, axes,
                                         info.shape, &box) : RD_EXIT_OK;
  return failed ? failed
    : rd_output_array (target, has_box ? &box : NULL, export->file,
                       &export->options, details);
}

/* The most memory of an export: two slabs, and what they are decoded from. */
#define MEMORY_NBYTES ((uint64_t) 48 << 20)

/* The outcome for a node. */
struct outcome {
  char *file, *details;               /* what was written; NULL: nothing */
  bool failed;
  struct rd_messages messages;
};

struct exporting {
  struct export export;
  struct rd_nodes nodes;
  struct outcome *outcomes;           /* of each node */
  int status;
  struct rd_jobs jobs;
};

static int
export_node (struct exporting *exporting, struct rd_target *node,
             struct outcome *outcome)
{
  struct export one = exporting->export;
  int failed = rd_node_open (node);
  if (failed)
    return failed;
  outcome->file = one.is_folder ? file_in_folder (&exporting->export, node)
                                : rd_format ("%s", one.file);
  if (outcome->file == NULL)
    return RD_EXIT_FAILED;
  one.file = outcome->file;
  struct radio_array_info info;
  radio_array_get_info (node->array, &info);
  uint64_t raw_nbytes = rd_raw_nbytes (&info);
  uint64_t nbytes = raw_nbytes < MEMORY_NBYTES / 3 ? 3 * raw_nbytes
                                                   : MEMORY_NBYTES;
  rd_jobs_reserve (&exporting->jobs, nbytes);
  failed = node->volume ? export_volume (&one, node, &outcome->details)
                        : export_array (&one, node, &outcome->details);
  rd_jobs_release (&exporting->jobs, nbytes);
  return failed;
}

static void
run_node (void *data, size_t i)
{
  struct exporting *exporting = data;
  struct rd_target *node = &exporting->nodes.list[i];
  struct outcome *outcome = &exporting->outcomes[i];
  rd_messages_keep (&outcome->messages);
  outcome->failed = export_node (exporting, node, outcome) != RD_EXIT_OK;
  rd_messages_keep (NULL);
  rd_node_close (node);
}

static bool
end_node (void *data, size_t i)
{
  (void) data;
  (void) i;
  return !rd_interrupted ();
}

static void
report_node (void *data, size_t i)
{
  struct exporting *exporting = data;
  struct outcome *outcome = &exporting->outcomes[i];
  rd_messages_print (&outcome->messages);
  if (outcome->failed)
    exporting->status = RD_EXIT_FAILED;
  else
    rd_output_print (outcome->file, outcome->details);
  free (outcome->file);
  free (outcome->details);
}

/* Exports the nodes that the operands name: at the same time those of a store
 * on a network, whose answers are mostly waited for. */
static int
export_nodes (const struct rd_args *args, struct exporting *exporting)
{
  const struct export *export = &exporting->export;
  bool is_roi = args->command == &rd_command_roi;
  struct rd_nodes *nodes = &exporting->nodes;
  exporting->status = rd_nodes_find (args, RD_NODES_SOME
                                     | (is_roi ? 0 : RD_NODES_ARRAYS), nodes);
  if (nodes->n > 0 && !nodes->names_one && !export->is_folder)
    return rd_error ("%s: one file for %zu volume%s; give a folder, as "
                     "'%s/'", export->file, nodes->n, rd_plural (nodes->n),
                     export->file);
  if (export->is_folder && check_files (export, nodes) != RD_EXIT_OK)
    return RD_EXIT_FAILED;
  exporting->outcomes = calloc (nodes->n + 1, sizeof *exporting->outcomes);
  if (exporting->outcomes == NULL)
    return rd_error_memory ();
  rd_interrupt_catch ();
  exporting->jobs = (struct rd_jobs) {
    .n = nodes->n,
    .nthreads = rd_nodes_are_remote (args, nodes)
                ? rd_nodes_nthreads (args, nodes) : 1,
    .limit_nbytes = rd_jobs_limit_nbytes (args),
    .run = run_node,
    .end = end_node,
    .report = report_node,
    .data = exporting,
  };
  return rd_jobs_run (&exporting->jobs) ? exporting->status : RD_EXIT_FAILED;
}

/* radio roi wants a box, and takes no arrays. */
static int
run_export (struct rd_args *args)
{
  struct exporting exporting = { .status = RD_EXIT_OK };
  if (!parse_export (args, &exporting.export))
    return args->status;
  if (args->command == &rd_command_roi
      && !rd_box_given (&exporting.export.box))
    return rd_usage_error (args, "no box given: use --x, --y, --z, or --at "
                           "with --size; 'radio export' writes the whole");
  int status = export_nodes (args, &exporting);
  free (exporting.outcomes);
  rd_nodes_clear (&exporting.nodes);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  RD_SELECT_OPTIONS,
  { 'o', "output", "FILE",
    "write to FILE: .nii, .nii.gz or .npy; or to a folder\n"
    "(FOLDER/), as COLLECTION/NAME.nii.gz in it" },
  { RD_OPTION_FORMAT, "format", "FORMAT",
    "of files in a folder: nii.gz (default), nii or npy" },
  RD_BOX_OPTIONS,
  RD_APPLY_OPTION,
  { RD_OPTION_SCALED, "scaled", NULL,
    "scaled values as float32 (.npy only)" },
  { RD_OPTION_MEMBERS, "members", "SIZE",
    "of .nii.gz: members of gzip of this size, as 1M,\n"
    "which several threads can inflate" },
  { RD_OPTION_OVERWRITE, "overwrite", NULL, "replace FILE" },
  RD_FILE_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_export = {
  .name = "export",
  .operands = "VOLUME|COLLECTION|ARRAY... -o FILE|FOLDER/ [OPTION]...",
  .summary = "write volumes or an array to files",
  .description =
    "Writes a volume to a NIfTI or NumPy file, or several into a folder. A "
    "whole volume as .nii is the image that was ingested, byte for byte. As "
    ".npy it is what nibabel returns: axes x, y, z. Any Zarr v3 array is "
    "written to .npy as stored; the axes of its box are its dimension names, "
    "or the last of t, c, z, y, x.",
  .options = options,
  .examples =
    "radio export sub-01 -o sub-01.nii.gz\n"
    "radio export T1w 'ct/sub-0*' --format npy -o files/\n"
    "radio export any/array.zarr/0 --z 10:20 -o slab.npy",
  .run = run_export,
};

const struct rd_command rd_command_roi = {
  .name = "roi",
  .operands = "VOLUME... BOX... -o FILE|FOLDER/ [OPTION]...",
  .summary = "write a box of a volume to a file",
  .description =
    "Writes a box of a volume to a NIfTI or NumPy file, or that of several "
    "volumes into a folder. Only the tiles that it intersects are read. "
    "Voxels are counted from 0 along x, y, z as in the NIfTI file; the box "
    "keeps its place in space.",
  .options = options,
  .examples =
    "radio roi sub-01 --at 90,80,60 --size 64 -o box.nii.gz\n"
    "radio roi sub-01 --x 10:74 --z 100: -o part.nii.gz\n"
    "radio roi ct/sub-01 --size 128,128,32 --scaled -o centre.npy",
  .run = run_export,
};
