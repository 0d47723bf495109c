/* SPDX-License-Identifier: MIT */
/* Other volumes that the operations of a pipeline name: the one with the grid,
 * and the mask, which limits statistics to a part of the image. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/volume/derive/derive.h"
#include "src/volume/grids.h"
#include "src/volume/node.h"
#include "src/volume/stream.h"

/* True if a name is that of a file or folder, whatever store the image is in.
 */
static bool
is_outside (const struct radio_volume *root, const char *name)
{
  return root->array->linear || name[0] == '/'
         || strncmp (name, "./", 2) == 0 || strncmp (name, "../", 3) == 0
         || strstr (name, "://");
}

/* Opens an image in its file, or the folder of a volume in any store. */
static enum radio_status
open_outside (struct radio_context *context, const char *name,
              struct radio_volume **volume)
{
  const struct radio_store_options options = { .context = context };
  struct radio_store *store;
  struct rd_error error;
  enum radio_status status = radio_volume_open_file (context, name, NULL,
                                                     volume);
  if (status == RADIO_OK || status == RADIO_ERROR_MEMORY)
    return status;
  rd_error_save (&error, status);
  status = radio_store_open (name, &options, &store);
  if (status == RADIO_OK) {
    status = radio_volume_open (store, "", volume);
    radio_store_close (store);
  }
  return status == RADIO_OK || status == RADIO_ERROR_MEMORY
         ? status : rd_error_raise (&error);
}

/* Opens a volume of the image's store.  If the path has no volume, the message
 * ends in `instead'. */
static enum radio_status
open_inside (const struct radio_volume *root, const char *path,
             const char *instead, struct radio_volume **volume)
{
  struct radio_store *store = root->array->store;
  struct rd_error error;
  bool exists;
  enum radio_status status = radio_volume_open (store, path, volume);
  if (status != RADIO_ERROR_NOT_FOUND)
    return status;
  rd_error_save (&error, status);
  RD_TRY (rd_store_node_exists (store, path, &exists));
  if (exists)
    return rd_error_raise (&error);
  return rd_fail (status, "%s: no such volume in %s; %s", path,
                  store->io->uri, instead);
}

/* Opens FOLDER/NAME of the image's store, of which one is given by n bytes. */
static enum radio_status
open_beside (const struct radio_volume *root, const char *folder, size_t n,
             const char *name, const char *instead,
             struct radio_volume **volume)
{
  size_t nbytes = n + strlen (name) + 2;
  char *path RD_FREE = rd_malloc (nbytes);
  if (!path)
    return rd_fail_memory (nbytes);
  memcpy (path, folder, n);
  path[n] = '/';
  memcpy (path + n + 1, name, strlen (name) + 1);
  return open_inside (root, path, instead, volume);
}

enum radio_status
rd_open_grid (const struct radio_volume *root, const char *name,
              struct radio_volume **volume)
{
  struct radio_store *store = root->array->store;
  const char *slash = strrchr (root->path, '/');
  if (is_outside (root, name))
    return open_outside (store->context, name, volume);
  static const char instead[] = "use NAME, COLLECTION/NAME, or ./ before the "
                                "path of another store's volume or a file";
  if (strchr (name, '/') || !slash)
    return open_inside (root, name, instead, volume);
  return open_beside (root, root->path, (size_t) (slash - root->path), name,
                      instead, volume);
}

enum radio_status
rd_grid_text (const struct rd_step *step, struct rd_buffer *text)
{
  for (size_t i = 0; i < 15; i++) {
    char number[RD_NUMBER_NBYTES + 1] = " ";
    rd_number_exact (i < 12 ? step->matrix[i / 4][i % 4]
                            : (double) step->second[i - 12], number + 1);
    RD_TRY (rd_buffer_append (text, number, strlen (number)));
  }
  return RADIO_OK;
}

static enum radio_status
open_mask_itself (const struct radio_volume *root, const char *name,
                  struct radio_volume **mask)
{
  const char *slash = strrchr (root->path, '/');
  if (is_outside (root, name))
    return open_outside (root->array->store->context, name, mask);
  return open_beside (root, name, strlen (name),
                      slash ? slash + 1 : root->path,
                      "name the collection that has the mask by the image's "
                      "name, or ./ before a path", mask);
}

static enum radio_status
check_mask (const struct radio_volume *root, const struct radio_volume *mask)
{
  const struct radio_array_info *a = &root->info.array, *b = &mask->info.array;
  if (a->rank != b->rank || strcmp (root->info.axes, mask->info.axes) != 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the mask %s has the axes %s, the "
                    "image %s; name a mask with the same", mask->path,
                    mask->info.axes, root->info.axes);
  for (size_t i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i])
      return rd_fail (RADIO_ERROR_ARGUMENT, "the mask %s has another shape "
                      "than the image (along %c %" PRIu64 ", not %" PRIu64
                      "); bring it to its grid by radio apply 'like %s'",
                      mask->path, root->info.axes[i], b->shape[i],
                      a->shape[i], root->path);
  if (*root->info.orientation && *mask->info.orientation
      && strcmp (root->info.orientation, mask->info.orientation) != 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the mask %s is %s, the image %s; "
                    "turn one by radio apply 'reorient %s'", mask->path,
                    mask->info.orientation, root->info.orientation,
                    root->info.orientation);
  enum radio_status status = rd_grids_check_mask (&mask->info, &root->info);
  if (status != RADIO_OK)
    return rd_fail (status, "%s; bring it to this grid by radio apply "
                    "'like %s'", radio_error_message (), root->path);
  if (rd_volume_is_colour (mask) || rd_dtype_is_complex (b->dtype)
      || b->dtype == RADIO_RAW)
    return rd_fail (RADIO_ERROR_ARGUMENT, "the mask %s is not of real numbers",
                    mask->path);
  return RADIO_OK;
}

enum radio_status
rd_open_mask (const struct radio_volume *root, const char *name,
              struct radio_volume **result)
{
  struct radio_volume *mask RD_CLEANUP (rd_cleanup_volume) = NULL;
  enum radio_status status = open_mask_itself (root, name, &mask);
  if (status != RADIO_OK)
    return rd_fail_in (status, "the mask");
  RD_TRY (check_mask (root, mask));
  *result = RD_STEAL (mask);
  return RADIO_OK;
}

enum radio_status
rd_derive_mask (struct radio_volume *mask, const struct rd_step *steps,
                size_t n, struct radio_volume **derived)
{
  struct rd_step *moves RD_FREE = rd_calloc (n + 1, sizeof *moves);
  size_t nmoves = 0;
  if (!moves)
    return rd_fail_memory (n * sizeof *moves);
  for (size_t i = 0; i < n; i++) {
    if (!rd_step_is_spatial (&steps[i])
        || steps[i].operation == RD_OP_SMOOTH)
      continue;
    moves[nmoves] = steps[i];
    moves[nmoves].interpolation = RD_INTERPOLATE_NEAREST;
    moves[nmoves].smooths = false;
    moves[nmoves++].value = 0;
  }
  if (nmoves > 0)
    return rd_derive_volume (mask, moves, nmoves, derived);
  atomic_fetch_add (&mask->nothers, 1);
  *derived = mask;
  return RADIO_OK;
}

/* The source of rd_stats_compute. */
struct masked_scan {
  struct rd_stream stream;            /* of the image */
  const struct radio_volume *mask;
  struct rd_scaling scaling;          /* of the mask */
};

/* Moves the items where the mask is not 0 to the front; returns their
 * number. */
static size_t
select_items (unsigned char *items, size_t item_nbytes, const float *mask,
              size_t n)
{
  size_t nselected = 0;
  for (size_t i = 0; i < n; i++)
    if (mask[i] != 0) {
      if (nselected != i)
        memcpy (items + nselected * item_nbytes, items + i * item_nbytes,
                item_nbytes);
      nselected++;
    }
  return nselected;
}

static enum radio_status
scan_masked (void *source, rd_take_fn *take, void *sink)
{
  struct masked_scan *scan = source;
  const struct rd_stream *stream = &scan->stream;
  /* Slabs for both volumes: of the largest item. */
  struct rd_stream wide = *stream;
  struct rd_slabs slabs;
  struct radio_box slab;
  uint64_t room;
  wide.item_nbytes = sizeof (double);
  if (radio_box_count (&stream->box) == 0)
    return RADIO_OK;
  RD_TRY (rd_slabs_plan (&wide, &slabs, &room));
  unsigned char *items RD_FREE = rd_malloc (room);
  float *mask RD_FREE = rd_malloc (room / 2);
  if (!items || !mask)
    return rd_fail_memory (room);
  rd_slabs_first (stream, &slabs, &slab);
  do {
    size_t nbytes, n = radio_box_count (&slab);
    const struct radio_request request = {
      .box = slab, .buffer = mask, .nbytes = n * sizeof *mask,
    };
    RD_TRY (rd_slab_read (stream, &slab, items, &nbytes));
    RD_TRY (rd_array_read_once (scan->mask->array, &request, RADIO_FLOAT32,
                                &scan->scaling, stream->stop));
    take (sink, items, select_items (items, stream->item_nbytes, mask, n));
  } while (rd_slabs_next (stream, &slabs, &slab));
  return RADIO_OK;
}

enum radio_status
rd_masked_stats (const struct radio_volume *volume,
                 const struct radio_volume *mask, struct rd_read_stop *stop,
                 struct rd_stats_more *more, struct radio_stats *stats)
{
  struct masked_scan scan = {
    .mask = mask, .scaling = { mask->info.scl_slope, mask->info.scl_inter },
  };
  RD_TRY (rd_stats_plan (volume->array, more, stop, &scan.stream));
  RD_TRY (rd_stats_compute (scan.stream.dtype, volume->info.scl_slope,
                            volume->info.scl_inter, scan_masked, &scan, more,
                            stats));
  if (stats->count > 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "the mask %s is 0 everywhere; there is "
                  "nothing to take a statistic of", mask->path);
}
