/* SPDX-License-Identifier: MIT */
/* Boxes on the command line: parsed strictly, and checked against the image,
 * since a box that was silently clipped would be noticed late. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/boxes.h"
#include "tools/parse.h"

static const char letters[RD_BOX_NAXES + 1] = "xyztc";

const char *
rd_range_parse (const char *text, struct rd_range *range)
{
  struct rd_range result = { .given = true };
  char part[24];
  if (strchr (text, '-') != NULL)
    return "positions count from 0 and are not negative";
  size_t n = strcspn (text, ":");
  if (n >= sizeof part || strlen (text) >= n + sizeof part)
    return "the number is too large";
  memcpy (part, text, n);
  part[n] = '\0';
  result.has_start = n > 0;
  if (n > 0 && !rd_parse_u64 (part, &result.start))
    return "not START:END, START:, :END, : or one position";
  if (text[n] == '\0') {
    if (n == 0)
      return "it is empty";
    result.has_end = true;
    if (__builtin_add_overflow (result.start, 1, &result.end))
      return "the number is too large";
  } else if (text[n + 1] != '\0') {
    result.has_end = true;
    if (!rd_parse_u64 (text + n + 1, &result.end))
      return "not START:END, START:, :END, : or one position";
  }
  if (result.has_end && result.end <= result.start)
    return "END must be greater than START (END is not included)";
  *range = result;
  return NULL;
}

int
rd_box_take (struct rd_args *args, int id, struct rd_box_options *box)
{
  if (id >= RD_OPTION_X && id <= RD_OPTION_C) {
    size_t axis = (size_t) (id - RD_OPTION_X);
    const char *wrong = rd_range_parse (args->value, &box->ranges[axis]);
    if (wrong)
      rd_usage_error (args, "--%c: '%s': %s", letters[axis], args->value,
                      wrong);
    return wrong ? -1 : 1;
  }
  if (id == RD_OPTION_SIZE)
    return (box->has_size = rd_args_shape (args, box->size)) ? 1 : -1;
  if (id == RD_OPTION_AT)
    return (box->has_at = rd_args_position (args, box->at)) ? 1 : -1;
  return 0;
}

static bool
has_space_range (const struct rd_box_options *box)
{
  return box->ranges[0].given || box->ranges[1].given || box->ranges[2].given;
}

bool
rd_box_given (const struct rd_box_options *box)
{
  return has_space_range (box) || box->ranges[3].given
         || box->ranges[4].given || box->has_at || box->has_size;
}

bool
rd_box_consistent (struct rd_args *args, const struct rd_box_options *box)
{
  if (box->has_at && !box->has_size)
    rd_usage_error (args, "--at needs --size");
  else if (box->has_size && has_space_range (box))
    rd_usage_error (args, "--size does not go with --x, --y or --z");
  else
    return true;
  return false;
}

/* Finds the axis of a letter. */
static int
find_axis (char letter, const char *axes, size_t *axis)
{
  const char *place = strchr (axes, letter);
  if (place) {
    *axis = (size_t) (place - axes);
    return RD_EXIT_OK;
  }
  char list[3 * RADIO_MAX_RANK + 1] = "";
  for (size_t i = strlen (axes); i-- > 0;) {
    size_t used = strlen (list);
    snprintf (list + used, sizeof list - used, "%s%c", used ? ", " : "",
              axes[i]);
  }
  return rd_error ("--%c: the image has no axis %c, its axes are %s", letter,
                   letter, list);
}

int
rd_box_resolve (const struct rd_box_options *options, const char *axes,
                const uint64_t *shape, struct radio_box *box)
{
  size_t axis;
  memset (box, 0, sizeof *box);
  box->rank = strlen (axes);
  memcpy (box->size, shape, box->rank * sizeof *shape);
  for (size_t i = 0; i < RD_BOX_NAXES; i++) {
    const struct rd_range *range = &options->ranges[i];
    if (!range->given)
      continue;
    int failed = find_axis (letters[i], axes, &axis);
    if (failed)
      return failed;
    uint64_t n = shape[axis], end = range->has_end ? range->end : n;
    uint64_t bad = end > n ? end - 1 : range->start;
    if (end > n || range->start >= end)
      return rd_error ("--%c: %" PRIu64 " is out of range (0-%" PRIu64 ")",
                       letters[i], bad, n - 1);
    box->start[axis] = range->start;
    box->size[axis] = end - range->start;
  }
  for (size_t i = 0; i < 3 && options->has_size; i++) {
    int failed = find_axis (letters[i], axes, &axis);
    if (failed)
      return failed;
    uint64_t n = shape[axis], size = options->size[i];
    if (size > n)
      return rd_error ("--size: %" PRIu64 " exceeds the length of axis %c (%"
                       PRIu64 ")", size, letters[i], n);
    uint64_t start = options->has_at ? options->at[i] : (n - size) / 2;
    if (start > n - size)
      return rd_error ("--at: %c = %" PRIu64 " is out of range (0-%" PRIu64
                       ") for a size of %" PRIu64, letters[i], start,
                       n - size, size);
    box->start[axis] = start;
    box->size[axis] = size;
  }
  return RD_EXIT_OK;
}

void
rd_array_axes (const struct radio_array_info *info,
               char axes[RADIO_MAX_RANK + 1])
{
  static const char usual[] = "tczyx";
  size_t nusual = sizeof usual - 1;
  for (size_t i = 0; i < info->rank; i++) {
    size_t from_end = info->rank - i;
    axes[i] = from_end <= nusual ? usual[nusual - from_end] : '?';
    if (info->dimension_names) {
      const char *name = info->dimension_names[i];
      const char *letter = name && name[0] && name[1] == '\0'
        ? strchr (letters, name[0] | 0x20) : NULL;
      axes[i] = letter ? *letter : '?';
    }
  }
  axes[info->rank] = '\0';
}
