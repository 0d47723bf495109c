/* SPDX-License-Identifier: MIT */
/* Reading of volumes: what the array does, and planes across an anatomical
 * axis. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "src/volume/volume.h"

/* The volume's slope and intercept, if they are asked for. */
static enum radio_status
read_requests (struct radio_volume *volume,
               const struct radio_request *requests, size_t n,
               enum radio_dtype dtype,
               const struct radio_read_options *options)
{
  const struct rd_scaling scaling
    = { volume->info.scl_slope, volume->info.scl_inter };
  bool scaled = options && options->scaled;
  RD_NOTE_NAME ("volume", volume->path);
  return rd_array_read_scaled (volume->array, requests, n, dtype,
                               scaled ? &scaling : NULL);
}

enum radio_status
radio_volume_read (struct radio_volume *volume, const struct radio_box *box,
                   enum radio_dtype dtype, void *buffer, size_t nbytes,
                   const struct radio_read_options *options)
{
  if (volume == NULL || box == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_volume_read: %s is NULL",
                    volume ? "box" : "volume");
  RD_SCOPE ("read", RD_IN_OPERATION);
  const struct radio_request request = {
    *box, buffer, nbytes, options ? options->strides : NULL,
  };
  return rd_scope_end_with (
    read_requests (volume, &request, 1, dtype, options));
}

enum radio_status
radio_volume_read_many (struct radio_volume *volume,
                        const struct radio_request *requests, size_t n,
                        enum radio_dtype dtype,
                        const struct radio_read_options *options)
{
  if (volume == NULL || (requests == NULL && n > 0))
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_volume_read_many: %s is "
                    "NULL", volume ? "requests" : "volume");
  RD_SCOPE ("read many", RD_IN_OPERATION);
  return rd_scope_end_with (
    read_requests (volume, requests, n, dtype, options));
}

static bool
is_space (char letter)
{
  return letter != 't' && letter != 'c';
}

void
radio_volume_plane_shape (const struct radio_volume *volume,
                          enum radio_plane plane, uint64_t shape[2])
{
  const struct radio_volume_info *info = &volume->info;
  size_t across = info->plane_axis[plane];
  size_t n = 0;
  for (size_t i = 0; i < info->array.rank && n < 2; i++)
    if (is_space (info->axes[i]) && i != across)
      shape[n++] = info->array.shape[i];
}

/* The box of a plane: one element thick across it and on t and c. */
static enum radio_status
plane_box (const struct radio_volume *volume, size_t across, uint64_t index,
           const uint64_t *lead, struct radio_box *box)
{
  const struct radio_volume_info *info = &volume->info;
  const uint64_t *shape = info->array.shape;
  size_t nlead = 0;
  *box = (struct radio_box) { .rank = info->array.rank };
  for (size_t i = 0; i < box->rank; i++) {
    bool is_whole = is_space (info->axes[i]) && i != across;
    box->size[i] = is_whole ? shape[i] : 1;
    if (i == across)
      box->start[i] = index;
    else if (!is_whole)
      box->start[i] = lead[nlead++];
    if (box->start[i] >= shape[i] && !is_whole)
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "%s: index %" PRIu64 " on axis %c is outside its "
                      "%" PRIu64 " elements", volume->path, box->start[i],
                      info->axes[i], shape[i]);
  }
  return RADIO_OK;
}

/* Strides are of the plane's two axes; on the others the box has one
 * element, so that any distance will do. */
static void
plane_strides (const struct radio_volume *volume, size_t across,
               const int64_t *given, int64_t strides[RADIO_MAX_RANK])
{
  size_t n = 0;
  for (size_t i = 0; i < volume->info.array.rank; i++) {
    bool is_given = is_space (volume->info.axes[i]) && i != across;
    strides[i] = is_given ? given[n++] : 0;
  }
}

/* Into the buffer of a request that has no box yet. */
static enum radio_status
read_plane (struct radio_volume *volume, size_t across, uint64_t index,
            enum radio_dtype dtype, struct radio_request *request,
            const struct radio_read_options *options)
{
  int64_t strides[RADIO_MAX_RANK];
  RD_TRY (plane_box (volume, across, index, options->lead, &request->box));
  if (options->strides) {
    plane_strides (volume, across, options->strides, strides);
    request->strides = strides;
  }
  return read_requests (volume, request, 1, dtype, options);
}

enum radio_status
radio_volume_read_plane (struct radio_volume *volume, enum radio_plane plane,
                         uint64_t index, enum radio_dtype dtype,
                         void *buffer, size_t nbytes,
                         const struct radio_read_options *options)
{
  static const struct radio_read_options defaults;
  if (volume == NULL || (unsigned) plane > RADIO_SAGITTAL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_volume_read_plane: volume "
                    "is NULL, or the plane %d unknown", (int) plane);
  RD_SCOPE ("read plane", RD_IN_OPERATION);
  struct radio_request request = { .buffer = buffer, .nbytes = nbytes };
  return rd_scope_end_with (
    read_plane (volume, volume->info.plane_axis[plane], index, dtype,
                &request, options ? options : &defaults));
}
