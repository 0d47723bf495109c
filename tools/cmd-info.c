/* SPDX-License-Identifier: MIT */
/* radio info: describes a volume, or any Zarr v3 array. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/facts.h"
#include "tools/json.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/text.h"

struct info_options {
  struct rd_box_options box;          /* of the result */
  bool lists_tiles;
};

/* Prints "label:      text", the text without control characters. */
static void
put (const char *label, const char *text)
{
  printf ("%s%-12s%s ", rd_color (stdout, RD_BOLD), label,
          rd_color (stdout, RD_PLAIN));
  rd_text_print (stdout, text && *text ? text : "-");
  putchar ('\n');
}

static void
put_owned (const char *label, char *text)
{
  put (label, text);
  free (text);
}

static void
put_spacing (const struct radio_volume_info *info, const size_t *axes,
             size_t n)
{
  char number[RD_TEXT_NBYTES];
  size_t nspace = 0;
  while (nspace < n && strchr ("xyz", info->axes[axes[nspace]]))
    nspace++;
  RD_FREE char *space = rd_join_double (info->spacing, axes, nspace, " x ");
  const char *unit = rd_short_unit (info->space_unit);
  RD_FREE char *text = rd_format ("%s%s%s", space ? space : "", *unit ? " " :
                                  " (unit unknown)", unit);
  const char *t = strchr (info->axes, 't');
  if (t == NULL || text == NULL) {
    put ("spacing", text);
    return;
  }
  unit = rd_short_unit (info->time_unit);
  rd_text_number (info->spacing[t - info->axes], number);
  put_owned ("spacing", rd_format ("%s, %s%s%s in time", text, number,
                                   *unit ? " " : "", unit));
}

static void
put_header (const struct radio_volume_info *info)
{
  struct rd_header_facts facts;
  rd_header_facts (info, &facts);
  if (facts.version == 0)
    return;
  put_owned ("header", rd_format ("NIfTI-%d, %s-endian, qform %d, sform %d",
                                  facts.version,
                                  facts.big_endian ? "big" : "little",
                                  facts.qform_code, facts.sform_code));
  if (*facts.descrip)
    put ("descrip", facts.descrip);
  if (*facts.aux_file)
    put ("aux_file", facts.aux_file);
  if (*facts.intent_name || facts.intent_code != 0)
    put_owned ("intent", rd_format ("%d%s%s", facts.intent_code,
                                    *facts.intent_name ? " " : "",
                                    facts.intent_name));
  if (facts.extension_nbytes > 0)
    put_owned ("extensions", rd_format ("%zu bytes",
                                        facts.extension_nbytes));
}

/* True of an image in its file. */
static bool
is_in_file (const struct radio_volume_info *info)
{
  return strcmp (info->tiling, "none") == 0;
}

static void
put_tiling (const struct radio_volume_info *info, const size_t *axes, size_t n)
{
  RD_FREE char *tile = rd_join_u64 (info->array.tile_shape, axes, n, " x ");
  RD_FREE char *chunk = rd_join_u64 (info->array.chunk_shape, axes, n, " x ");
  bool named = *info->tiling
               && (*info->tiling < '0' || *info->tiling > '9');
  if (is_in_file (info)) {
    put ("tiling", "none: an image in its file");
    put ("codec", info->codec);
    return;
  }
  put_owned ("tiling", rd_format ("%s%stiles of %s%s%s",
                                  named ? info->tiling : "",
                                  named ? ", " : "", tile ? tile : "",
                                  info->array.sharded ? ", shards of " : "",
                                  info->array.sharded && chunk ? chunk : ""));
  put_owned ("codec", rd_format ("%s%s%s", info->codec,
                                 *info->codec ? ": " : "",
                                 info->array.codecs));
}

/* The tiles that are read for a box. */
struct reads {
  uint64_t ntiles, nbytes;            /* decoded */
  const size_t *axes;                 /* x, y, z first */
  struct json_object *list;           /* of the tiles; or NULL: print them */
};

static enum radio_status
count_tile (const struct radio_box *tile, uint64_t nbytes, void *user_data)
{
  struct reads *reads = user_data;
  (void) tile;
  reads->ntiles++;
  reads->nbytes += nbytes;
  return RADIO_OK;
}

/* "0:32,32:64,0:16", as crop has it. */
static enum radio_status
list_tile (const struct radio_box *tile, uint64_t nbytes, void *user_data)
{
  const struct reads *reads = user_data;
  char text[RADIO_MAX_RANK * 48] = "";
  (void) nbytes;
  for (size_t i = 0; i < tile->rank; i++) {
    size_t axis = reads->axes[i], used = strlen (text);
    snprintf (text + used, sizeof text - used, "%s%" PRIu64 ":%" PRIu64,
              i ? "," : "", tile->start[axis],
              tile->start[axis] + tile->size[axis]);
  }
  if (reads->list)
    json_object_array_add (reads->list, json_object_new_string (text));
  else
    put ("tile", text);
  return RADIO_OK;
}

/* Shows how much of an image in its file is read and, of a gzip file, how often
 * that is inflated. */
static int
put_file (const char *name, struct radio_volume *volume,
          const struct radio_box *box, struct json_object *json)
{
  double times;
  uint64_t nbytes;
  char size[RD_TEXT_NBYTES];
  if (radio_volume_file_reads (volume, box, &nbytes, &times) != RADIO_OK)
    return rd_error_library (name);
  if (json) {
    struct json_object *object = json_object_new_object ();
    rd_json_set_u64 (object, "nbytes", nbytes);
    if (times > 0)
      rd_json_set_double (object, "inflations", times);
    rd_json_set (json, "reads", object);
    return RD_EXIT_OK;
  }
  rd_text_size (nbytes, size);
  if (times == 0)
    put_owned ("reads", rd_format ("the image's file, %s of it", size));
  else if (times < 1.05)
    put_owned ("reads", rd_format ("the image's file, %s inflated", size));
  else
    put_owned ("reads", rd_format ("the image's file, %s inflated: %.1f times",
                                   size, times));
  return RD_EXIT_OK;
}

/* Shows what is read for the box, or for all if it is NULL. */
static int
put_reads (const struct info_options *options, const char *name,
           struct radio_volume *volume, const struct radio_volume_info *info,
           const struct radio_box *box, struct json_object *json)
{
  size_t axes[RADIO_MAX_RANK];
  char size[RD_TEXT_NBYTES];
  if (!box && !options->lists_tiles && !*info->pipeline)
    return RD_EXIT_OK;
  struct radio_array *array = radio_volume_array (volume);
  struct reads reads = { .axes = axes };
  rd_display_axes (info, axes);
  enum radio_status status
    = radio_array_list_tiles (array, box, count_tile, &reads);
  if (status == RADIO_ERROR_UNSUPPORTED)
    return put_file (name, volume, box, json);
  if (status != RADIO_OK)
    return rd_error_library (name);
  if (json) {
    struct json_object *object = json_object_new_object ();
    rd_json_set_u64 (object, "tile_count", reads.ntiles);
    rd_json_set_u64 (object, "nbytes", reads.nbytes);
    if (options->lists_tiles) {
      reads.list = json_object_new_array ();
      rd_json_set (object, "tiles", reads.list);
    }
    rd_json_set (json, "reads", object);
  } else
    put_owned ("reads", rd_format ("%" PRIu64 " tile%s, %s decoded",
                                   reads.ntiles, rd_plural (reads.ntiles),
                                   rd_text_size (reads.nbytes, size)));
  if (options->lists_tiles
      && radio_array_list_tiles (array, box, list_tile, &reads) != RADIO_OK)
    return rd_error_library (name);
  return RD_EXIT_OK;
}

static void
put_affine (const struct radio_volume_info *info)
{
  char a[RD_TEXT_NBYTES];
  bool is_ome = strcmp (info->affine_source, "ome") == 0;
  if (*info->orientation)
    put_owned ("orientation", rd_format ("%s (by %s)", info->orientation,
                                         info->affine_source));
  else
    put_owned ("orientation",
               is_ome ? rd_format ("none (no anatomical metadata)")
               : strcmp (info->affine_source, "pixdim") == 0
               ? rd_format ("none (sform and qform are not finite)")
               : rd_format ("none (the %s is singular)",
                            info->affine_source));
  for (int i = 0; i < 3; i++) {
    printf ("%-12s", i == 0 ? "affine" : "");
    for (int j = 0; j < 4; j++)
      printf (" %11s", rd_text_number (info->affine[i][j], a));
    putchar ('\n');
  }
}

/* For a volume with a pipeline: how it will be read. */
static void
put_pipeline (const struct radio_volume_info *info, size_t passes)
{
  if (*info->pipeline)
    put ("pipeline", info->pipeline);
  if (passes > 0)
    put_owned ("passes", rd_format ("%zu over the whole volume, for statistics"
                                    ", before the first voxel is read",
                                    passes));
  else if (info->statistics_count > 0)
    put ("passes", "none: the statistics are kept in the volume");
  if (info->interpolation_count > 0)
    put_owned ("interpolated", rd_format ("%zu time%s",
                                          info->interpolation_count,
                                          info->interpolation_count == 1 ? ""
                                                                        : "s"));
}

static void
put_source (const struct radio_volume_info *info)
{
  char size[RD_TEXT_NBYTES];
  if (*info->source_name && !is_in_file (info))
    put_owned ("source", rd_format ("%s, %s decompressed", info->source_name,
                                    rd_text_size (info->source_nbytes,
                                                  size)));
  if (*info->source_sha256)
    put ("sha256", info->source_sha256);
  if (*info->derived_pipeline) {
    put ("derived by", info->derived_pipeline);
    put ("from sha256", info->derived_sha256);
  }
}

static int
print_volume (const struct info_options *options,
              const struct rd_target *node, struct json_object **json)
{
  struct radio_volume *volume = node->volume;
  const char *name = node->name;
  struct radio_volume_info info;
  struct radio_box box;
  size_t axes[RADIO_MAX_RANK];
  uint64_t stored = node->stored_nbytes;
  enum radio_status status = RADIO_OK;
  if (!node->has_stored_nbytes)
    status = radio_volume_stored_nbytes (volume, &stored);
  if (status == RADIO_ERROR_UNSUPPORTED)
    stored = RD_UNKNOWN_NBYTES;
  else if (status != RADIO_OK)
    return rd_error_library (name);
  radio_volume_get_info (volume, &info);
  const struct radio_box *wanted = rd_box_given (&options->box) ? &box : NULL;
  int failed = wanted ? rd_box_resolve (&options->box, name, info.axes,
                                        info.array.shape, &box)
                      : RD_EXIT_OK;
  if (failed)
    return failed;
  size_t passes = 0;
  if (info.statistics_count > 0
      && radio_volume_passes (volume, &passes) != RADIO_OK)
    return rd_error_library (name);
  if (json) {
    *json = rd_volume_json (name, &info, stored);
    if (*info.pipeline)
      rd_json_set_u64 (*json, "passes", passes);
    return put_reads (options, name, volume, &info, wanted, *json);
  }
  size_t n = rd_display_axes (&info, axes);
  char raw[RD_TEXT_NBYTES];
  char size[RD_TEXT_NBYTES], ratio[RD_TEXT_NBYTES];
  uint64_t raw_nbytes = rd_raw_nbytes (&info.array);
  put ("volume", name);
  put_owned ("shape", rd_join_axes (info.array.shape, axes, n, info.axes));
  char a[RD_TEXT_NBYTES], b[RD_TEXT_NBYTES], type[32];
  put ("type", rd_volume_type (&info, type));
  if (info.is_labels)
    put ("values", "labels: pipelines pick them, and mix none");
  if (info.scl_slope != 1 || info.scl_inter != 0)
    put_owned ("scaling", rd_format ("stored x %s + %s",
                                     rd_text_number (info.scl_slope, a),
                                     rd_text_number (info.scl_inter, b)));
  if (info.window_low < info.window_high)
    put_owned ("window", rd_format ("%s to %s",
                                    rd_text_number (info.window_low, a),
                                    rd_text_number (info.window_high, b)));
  put_spacing (&info, axes, n);
  put_affine (&info);
  put_pipeline (&info, passes);
  failed = put_reads (options, name, volume, &info, wanted, NULL);
  if (failed)
    return failed;
  /* Results of a pipeline are stored nowhere. */
  if (!*info.pipeline)
    put_tiling (&info, axes, n);
  rd_text_size (raw_nbytes, raw);
  if (stored == RD_UNKNOWN_NBYTES || *info.pipeline)
    put_owned ("size", rd_format ("%s raw", raw));
  else
    put_owned ("size", rd_format ("%s raw, %s stored, ratio %s", raw,
                                  rd_text_size (stored, size),
                                  rd_text_ratio (raw_nbytes, stored,
                                                 ratio)));
  if (info.missing_nbytes > 0)
    put_owned ("missing", rd_format ("%" PRIu64 " bytes of voxels: the file is "
                                     "cut short", info.missing_nbytes));
  put_source (&info);
  put_header (&info);
  return RD_EXIT_OK;
}

static int
print_array (const char *name, struct radio_array *array,
             struct json_object **json)
{
  static const size_t axes[RADIO_MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  struct radio_array_info info;
  char text[32], size[RD_TEXT_NBYTES];
  radio_array_get_info (array, &info);
  if (json) {
    *json = rd_array_json (name, &info);
    return RD_EXIT_OK;
  }
  size_t n = info.rank;
  put ("array", name);
  put_owned ("shape", rd_join_u64 (info.shape, axes, n, " x "));
  char *names = NULL;
  for (size_t i = 0; info.dimension_names && i < n; i++) {
    const char *dimension = info.dimension_names[i];
    char *longer = rd_format ("%s%s%s", names ? names : "",
                              names ? ", " : "",
                              dimension ? dimension : "-");
    free (names);
    names = longer;
  }
  if (info.dimension_names)
    put_owned ("dimensions", names);
  put ("type", rd_array_type (&info, text));
  put_owned ("chunks", rd_join_u64 (info.chunk_shape, axes, n, " x "));
  if (info.sharded)
    put_owned ("tiles", rd_join_u64 (info.tile_shape, axes, n, " x "));
  put ("codecs", info.codecs);
  /* The size of strings is known only when they are read. */
  if (info.dtype != RADIO_STRING)
    put_owned ("size", rd_format ("%s raw",
                                  rd_text_size (rd_raw_nbytes (&info),
                                                size)));
  if (strcmp (info.attributes_json, "{}") != 0)
    put ("attributes", info.attributes_json);
  return RD_EXIT_OK;
}

static int
print_node (const struct info_options *options, struct rd_target *node,
            bool is_first, struct json_object **json)
{
  int failed = rd_node_open (node);
  if (!failed && !is_first && !json)
    putchar ('\n');
  if (!failed)
    failed = node->volume
             ? print_volume (options, node, json)
             : print_array (node->name, node->array, json);
  rd_node_close (node);
  return failed;
}

/* JSON is a list, unless the operand names a node itself. */
static int
run_info (struct rd_args *args)
{
  struct info_options options = { .lists_tiles = false };
  int id;
  while ((id = rd_args_next (args)) > 0) {
    if (rd_box_take (args, id, &options.box) < 0)
      return args->status;
    options.lists_tiles = options.lists_tiles || id == RD_OPTION_LIST_TILES;
  }
  if (id < 0
      || !rd_args_want (args, !rd_args_selects (args), SIZE_MAX, "VOLUME")
      || !rd_box_consistent (args, &options.box))
    return args->status;
  RD_CLEAR_NODES struct rd_nodes nodes = { 0 };
  int status = rd_nodes_find (args, RD_NODES_ARRAYS | RD_NODES_SOME, &nodes);
  struct rd_json_items items = { .is_list = !nodes.names_one };
  bool is_first = true;
  for (size_t i = 0; i < nodes.n; i++) {
    struct json_object *json = NULL;
    rd_nodes_open_ahead (args, &nodes, i, nodes.n - i, true);
    if (print_node (&options, &nodes.list[i], is_first,
                    args->json ? &json : NULL) != RD_EXIT_OK) {
      if (json)
        json_object_put (json);
      status = RD_EXIT_FAILED;
      continue;
    }
    is_first = false;
    if (json)
      rd_json_items_print (&items, json);
  }
  if (nodes.n > 0 && args->json)
    rd_json_items_end (&items);
  return status;
}

static const struct rd_option info_options[] = {
  RD_STORE_OPTION,
  RD_SELECT_OPTIONS,
  RD_APPLY_OPTION,
  RD_BOX_OPTIONS,
  { RD_OPTION_LIST_TILES, "list-tiles", NULL,
    "list the tiles that a read of the box decodes" },
  RD_MEMORY_OPTION,
  RD_JSON_NODES_OPTION,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_info = {
  .name = "info",
  .operands = "[OPTION]... VOLUME|COLLECTION|ARRAY...",
  .summary = "describe volumes, or any Zarr v3 array",
  .description =
    "Prints the shape, type, spacing, orientation, tiling, codec, sizes and "
    "source of volumes. The axes of a volume are in NIfTI order (x, y, z), "
    "those of an array in stored order. With a pipeline, a box (default: all) "
    "or --list-tiles also what a read of that decodes; positions in tiles are "
    "those of the stored image.",
  .options = info_options,
  .examples =
    "radio info sub-01\n"
    "radio info --json 'T1w/sub-0*'\n"
    "radio info ct/head --apply 'resample 1' --z 40 --list-tiles",
  .run = run_info,
};
