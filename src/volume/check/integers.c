/* SPDX-License-Identifier: MIT */
/* Looking for values that are no integers, in one pass over a volume. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/error.h"
#include "src/base/text.h"
#include "src/volume/check/integers.h"
#include "src/volume/stream.h"
#include "src/volume/volume.h"

struct search {
  uint64_t count;             /* of values seen */
  uint64_t found_count;
  uint64_t first_at;          /* the number of the first one, in C order */
  double first;
};

static enum radio_status
take_slab (void *user_data, void *data, size_t nbytes)
{
  struct search *search = user_data;
  const double *values = data;
  size_t n = nbytes / sizeof *values;
  for (size_t i = 0; i < n; i++) {
    /* NaN is not equal to itself, and infinities are no integers either. */
    if (floor (values[i]) == values[i] && isfinite (values[i]))
      continue;
    if (search->found_count++ == 0) {
      search->first_at = search->count + i;
      search->first = values[i];
    }
  }
  search->count += n;
  return RADIO_OK;
}

static const struct radio_site search_site = {
  "look for fractions", RD_IN_OPERATION, "radio_store_check_pairs", __FILE__,
  __LINE__, RADIO_SCOPE_WORK
};

/* Leaves the message about what was found, its place along x, y, z, ... */
static void
describe (const struct radio_volume *volume, const struct search *search)
{
  const struct radio_volume_info *info = &volume->info;
  char number[RD_NUMBER_NBYTES] = "NaN", place[RADIO_MAX_RANK * 24] = "";
  char letters[2 * RADIO_MAX_RANK + 1] = "";
  uint64_t at = search->first_at;
  for (size_t axis = info->array.rank; axis-- > 0;) {
    size_t n = strlen (place), nletters = strlen (letters);
    const char *comma = n > 0 ? "," : "";
    snprintf (place + n, sizeof place - n, "%s%" PRIu64, comma,
              at % info->array.shape[axis]);
    snprintf (letters + nletters, sizeof letters - nletters, "%s%c", comma,
              info->axes[axis]);
    at /= info->array.shape[axis];
  }
  if (isfinite (search->first))
    rd_number_exact (search->first, number);
  else if (!isnan (search->first))
    snprintf (number, sizeof number, "%sinfinity",
              search->first < 0 ? "-" : "");
  rd_fail (RADIO_ERROR_ARGUMENT, "%s: a mask of %s with %" PRIu64 " value%s "
           "that %s no integer%s, the first %s at %s %s", volume->path,
           radio_dtype_name (info->array.dtype), search->found_count,
           search->found_count == 1 ? "" : "s",
           search->found_count == 1 ? "is" : "are",
           search->found_count == 1 ? "" : "s", number, letters, place);
}

enum radio_status
rd_check_integers (struct radio_volume *volume, bool *is_integer)
{
  enum radio_dtype dtype = volume->array->doc->type.dtype;
  const struct rd_scaling scaling = {
    volume->info.scl_slope, volume->info.scl_inter
  };
  if (rd_dtype_is_complex (dtype) || radio_dtype_nbytes (dtype) == 0) {
    *is_integer = false;
    rd_fail (RADIO_ERROR_ARGUMENT, "%s: a mask of %s, which is not integer",
             volume->path, radio_dtype_name (dtype));
    return RADIO_OK;
  }
  struct search search = { 0 };
  struct rd_stream stream = rd_stream_of (volume->array);
  stream.dtype = RADIO_FLOAT64;
  stream.item_nbytes = sizeof (double);
  stream.scaling = &scaling;
  stream.site = &search_site;
  RD_TRY (rd_stream_run (&stream, take_slab, &search));
  *is_integer = search.found_count == 0;
  if (!*is_integer)
    describe (volume, &search);
  return RADIO_OK;
}
