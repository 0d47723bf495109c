/* SPDX-License-Identifier: MIT */
/* radio slice: writes a plane of a volume, as a picture or as data. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tools/facts.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/parse.h"
#include "tools/slice/picture.h"
#include "tools/text.h"

/* The longest side that making pixels square may give a picture. */
#define MAX_SIDE 16384

static const char *const plane_names[] = {
  "axial", "coronal", "sagittal", NULL
};

static const char *const interpolation_names[] = {
  [RD_NEAREST] = "nearest", [RD_LINEAR] = "linear", NULL
};

struct slice {
  enum radio_plane plane;
  enum rd_interpolation interpolation;
  bool has_index, has_window, has_interpolation, no_aspect, overwrite;
  uint64_t index, time, channel;
  double low, high;
  const char *file;
  uint64_t memory_nbytes;

  struct rd_target target;
  struct radio_volume_info info;
};

/* Usual windows of CT, in Hounsfield units. */
static const struct {
  const char *name;
  double low, high;
} presets[] = {
  { "brain", 0, 80 },
  { "bone", -500, 1300 },
  { "lung", -1350, 150 },
  { "soft", -160, 240 },
};

static bool
parse_window (struct slice *slice, struct rd_args *args)
{
  slice->has_window = true;
  for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
    if (strcmp (args->value, presets[i].name) == 0) {
      slice->low = presets[i].low;
      slice->high = presets[i].high;
      return true;
    }
  if (rd_parse_range (args->value, &slice->low, &slice->high))
    return true;
  rd_usage_error (args, "--window: '%s' is neither LO,HI with LO < HI nor "
                  "brain, bone, lung or soft", args->value);
  return false;
}

static bool
parse_slice (struct slice *slice, struct rd_args *args)
{
  int id, choice;
  while ((id = rd_args_next (args)) > 0) {
    bool ok = true;
    switch (id) {
    case RD_OPTION_AXIS:
      choice = rd_args_choose (args, plane_names);
      slice->plane = choice < 0 ? 0 : (enum radio_plane) choice;
      ok = choice >= 0;
      break;
    case 'i':
      slice->has_index = true;
      ok = rd_args_number (args, 0, UINT64_MAX, &slice->index);
      break;
    case RD_OPTION_TIME:
      ok = rd_args_number (args, 0, UINT64_MAX, &slice->time);
      break;
    case RD_OPTION_CHANNEL:
      ok = rd_args_number (args, 0, UINT64_MAX, &slice->channel);
      break;
    case RD_OPTION_WINDOW:
      ok = parse_window (slice, args);
      break;
    case RD_OPTION_INTERPOLATE:
      choice = rd_args_choose (args, interpolation_names);
      slice->has_interpolation = true;
      slice->interpolation = choice < 0 ? 0 : (enum rd_interpolation) choice;
      ok = choice >= 0;
      break;
    case RD_OPTION_NO_ASPECT:
      slice->no_aspect = true;
      break;
    default:
      slice->file = args->value;
    }
    if (!ok)
      return false;
  }
  if (id < 0 || !rd_args_want (args, 1, 1, "VOLUME"))
    return false;
  slice->overwrite = args->overwrite;
  slice->memory_nbytes = args->memory_nbytes ? args->memory_nbytes
                                             : (uint64_t) 1 << 30;
  if (slice->file == NULL)
    return true;
  if (!rd_output_check (args, slice->file, true, false))
    return false;
  if (rd_has_suffix (slice->file, ".png")
      || !(slice->has_window || slice->has_interpolation
           || slice->no_aspect))
    return true;
  rd_usage_error (args, "--window, --interpolate and --no-aspect are for "
                  ".png only");
  return false;
}

/* Returns the axis of a letter, or the array's rank without one. */
static size_t
axis_of (const struct radio_volume_info *info, char letter)
{
  const char *place = strchr (info->axes, letter);
  return place ? (size_t) (place - info->axes) : info->array.rank;
}

/* Checks a position on an axis; without the axis only 0 is valid. */
static int
check_position (const struct slice *slice, const char *option, size_t axis,
                uint64_t position)
{
  const struct radio_array_info *array = &slice->info.array;
  uint64_t n = axis < array->rank ? array->shape[axis] : 1;
  if (position < n)
    return RD_EXIT_OK;
  return rd_error ("%s: %s: %" PRIu64 " is out of range (0-%" PRIu64 ")",
                   slice->target.name, option, position, n - 1);
}

/* Writes the plane as a box that is one voxel thick. */
static int
write_data (const struct slice *slice)
{
  const struct radio_volume_info *info = &slice->info;
  struct radio_box box = { .rank = info->array.rank };
  memcpy (box.size, info->array.shape, sizeof box.size);
  const struct {
    size_t axis;
    uint64_t position;
  } fixed[] = {
    { info->plane_axis[slice->plane], slice->index },
    { axis_of (info, 't'), slice->time },
    { rd_is_colour (info) ? box.rank : axis_of (info, 'c'), slice->channel },
  };
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
    if (fixed[i].axis < box.rank) {
      box.start[fixed[i].axis] = fixed[i].position;
      box.size[fixed[i].axis] = 1;
    }
  struct radio_export_options options = { .overwrite = slice->overwrite };
  RD_FREE char *details = NULL;
  int failed = rd_output_volume (&slice->target, &box, slice->file, &options,
                                 &details);
  if (!failed)
    rd_output_print (slice->file, details);
  return failed;
}

static bool
is_complex (const struct slice *slice)
{
  enum radio_dtype dtype = slice->info.array.dtype;
  return dtype == RADIO_COMPLEX64 || dtype == RADIO_COMPLEX128;
}

/* Reads the plane as a type: scaled, unless it is colour or complex. */
static int
read_as (const struct slice *slice, uint64_t channel, enum radio_dtype dtype,
         void *plane, size_t nbytes)
{
  struct radio_read_options options = {
    .scaled = !rd_is_colour (&slice->info) && !is_complex (slice),
    .warning = rd_on_warning,
  };
  size_t n = 0;
  for (const char *letter = slice->info.axes; *letter && n < 2; letter++) {
    if (*letter == 't')
      options.lead[n++] = slice->time;
    if (*letter == 'c')
      options.lead[n++] = channel;
  }
  if (radio_volume_read_plane (slice->target.volume, slice->plane,
                               slice->index, dtype, plane, nbytes,
                               &options) == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (slice->target.name);
}

/* Reads the values of a plane, of complex ones the magnitude; turns it and
 * makes its pixels square. */
static int
make_raster (const struct slice *slice, uint64_t channel,
             struct rd_view *view, struct rd_raster *raster)
{
  uint64_t shape[2], nbytes;
  size_t size[2];
  radio_volume_plane_shape (slice->target.volume, slice->plane, shape);
  if (__builtin_mul_overflow (shape[0], shape[1], &nbytes)
      || __builtin_mul_overflow (nbytes, sizeof (float), &nbytes)
      || nbytes > slice->memory_nbytes / (is_complex (slice) ? 16 : 4))
    return rd_error ("%s: a plane of %" PRIu64 " x %" PRIu64 " voxels needs "
                     "more memory than allowed; raise it by --memory",
                     slice->target.name, shape[1], shape[0]);
  RD_FREE float *plane = malloc ((size_t) nbytes + 1);
  if (plane == NULL)
    return rd_error_memory ();
  enum radio_dtype dtype = slice->info.array.dtype;
  size_t n = (size_t) nbytes / sizeof *plane;
  size_t value_nbytes = n * radio_dtype_nbytes (dtype);
  RD_FREE void *values = is_complex (slice) ? malloc (value_nbytes + 1)
                                            : NULL;
  if (is_complex (slice) && values == NULL)
    return rd_error_memory ();
  int failed = values
    ? read_as (slice, channel, dtype, values, value_nbytes)
    : read_as (slice, channel, RADIO_FLOAT32, plane, (size_t) nbytes);
  if (failed)
    return failed;
  const float *narrow = values;
  const double *wide = values;
  for (size_t i = 0; i < n && values; i++)
    plane[i] = dtype == RADIO_COMPLEX64
      ? hypotf (narrow[2 * i], narrow[2 * i + 1])
      : (float) hypot (wide[2 * i], wide[2 * i + 1]);
  if (!rd_view_turn (view, plane, shape, raster))
    return rd_error_memory ();
  if (slice->no_aspect
      || !rd_square_size (raster->width, raster->height, view->pixel_mm,
                          MAX_SIDE, size))
    return RD_EXIT_OK;
  enum rd_interpolation how = slice->has_interpolation
    ? slice->interpolation : rd_raster_interpolation (raster, &slice->info);
  if (!rd_raster_resize (raster, size[0], size[1], how))
    return rd_error_memory ();
  double pixel = view->pixel_mm[0] < view->pixel_mm[1] ? view->pixel_mm[0]
                                                       : view->pixel_mm[1];
  view->pixel_mm[0] = view->pixel_mm[1] = pixel;
  return RD_EXIT_OK;
}

/* Adds the values of one channel to the picture, which the first one
 * allocates; its window is that of all. */
static int
add_channel (struct slice *slice, size_t i, struct rd_picture *picture)
{
  struct rd_view view;
  struct rd_raster raster = { 0 };
  rd_view_of_plane (&slice->info, slice->plane, &view);
  uint64_t channel = picture->nchannels > 1 ? i : slice->channel;
  int failed = make_raster (slice, channel, &view, &raster);
  if (!failed && !slice->has_window) {
    const struct radio_volume_info *info = &slice->info;
    slice->has_window = true;
    slice->low = rd_is_colour (info) ? 0 : info->window_low;
    slice->high = rd_is_colour (info) ? 255 : info->window_high;
    if (!(slice->low < slice->high)
        && !rd_robust_window (raster.values, raster.width * raster.height,
                              &slice->low, &slice->high))
      failed = rd_error_memory ();
  }
  if (!failed && picture->pixels == NULL) {
    picture->width = raster.width;
    picture->height = raster.height;
    memcpy (picture->pixel_mm, view.pixel_mm, sizeof view.pixel_mm);
    picture->pixels = malloc (raster.width * raster.height
                              * picture->nchannels + 1);
    if (picture->pixels == NULL)
      failed = rd_error_memory ();
  }
  if (!failed)
    rd_raster_to_grey (&raster, slice->low, slice->high,
                       picture->pixels + i, picture->nchannels);
  free (raster.values);
  return failed;
}

static int
write_picture (struct slice *slice, const char *file)
{
  const struct radio_volume_info *info = &slice->info;
  struct rd_picture picture = { .nchannels = 1 };
  if (rd_is_colour (info))
    picture.nchannels = info->array.shape[axis_of (info, 'c')] == 4 ? 4 : 3;
  RD_FREE char *title = rd_format ("%s, %s plane %" PRIu64,
                                   slice->target.name,
                                   plane_names[slice->plane], slice->index);
  if (title == NULL)
    return RD_EXIT_FAILED;
  picture.title = title;
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < picture.nchannels && !failed; i++)
    failed = add_channel (slice, i, &picture);
  if (!failed)
    failed = rd_png_write (file, &picture, slice->overwrite);
  if (!failed) {
    char low[RD_TEXT_NBYTES], high[RD_TEXT_NBYTES];
    const char *how = *info->orientation ? "" : ", not oriented";
    RD_FREE char *details = picture.nchannels > 1
      ? rd_format ("%zu x %zu pixels, in colour%s", picture.width,
                   picture.height, how)
      : rd_format ("%zu x %zu pixels, window %s to %s%s", picture.width,
                   picture.height, rd_text_number (slice->low, low),
                   rd_text_number (slice->high, high), how);
    rd_output_print (file, details ? details : "");
  }
  free (picture.pixels);
  return failed;
}

static int
write_slice (struct slice *slice)
{
  const struct radio_volume_info *info = &slice->info;
  radio_volume_get_info (slice->target.volume, &slice->info);
  size_t axis = info->plane_axis[slice->plane];
  if (!slice->has_index)
    slice->index = rd_plane_count (info, slice->plane) / 2;
  int failed = check_position (slice, "--index", axis, slice->index);
  if (!failed)
    failed = check_position (slice, "--time", axis_of (info, 't'),
                             slice->time);
  if (!failed)
    failed = check_position (slice, "--channel", rd_is_colour (info)
                             ? info->array.rank : axis_of (info, 'c'),
                             slice->channel);
  if (failed)
    return failed;
  if (slice->file == NULL) {
    RD_FREE char *name = rd_target_stem (&slice->target);
    RD_FREE char *file = name == NULL ? NULL
      : rd_format ("%s_%s_%" PRIu64 ".png", name, plane_names[slice->plane],
                   slice->index);
    return file ? write_picture (slice, file) : RD_EXIT_FAILED;
  }
  if (rd_has_suffix (slice->file, ".png"))
    return write_picture (slice, slice->file);
  return write_data (slice);
}

static int
run_slice (struct rd_args *args)
{
  struct slice slice = { 0 };
  if (!parse_slice (&slice, args))
    return args->status;
  int status = rd_target_open (args, args->operands[0], false,
                               &slice.target);
  if (status == RD_EXIT_OK)
    status = write_slice (&slice);
  rd_target_close (&slice.target);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { 'o', "output", "FILE",
    "write to FILE: .png, .nii, .nii.gz or .npy\n"
    "(default: COLLECTION_NAME_AXIS_INDEX.png)" },
  { RD_OPTION_AXIS, "axis", "AXIS",
    "axial (default), coronal or sagittal" },
  { 'i', "index", "N", "the index of the plane (default: the middle)" },
  { RD_OPTION_TIME, "time", "N", "the time point (default: 0)" },
  { RD_OPTION_CHANNEL, "channel", "N", "the channel (default: 0)" },
  { RD_OPTION_WINDOW, "window", "LO,HI",
    "the values shown as black and white; or brain,\n"
    "bone, lung, soft for CT (default: the image's own,\n"
    "else the plane's 1st to 99th percentile)" },
  { RD_OPTION_INTERPOLATE, "interpolate", "HOW",
    "nearest or linear, when pixels are resampled to be\n"
    "square (default: linear; nearest for labels:\n"
    "intent_code 1002, or integers with at most 64\n"
    "different values in the plane)" },
  { RD_OPTION_NO_ASPECT, "no-aspect", NULL,
    "one pixel per voxel, also if voxels are not square" },
  { RD_OPTION_OVERWRITE, "overwrite", NULL, "replace FILE" },
  RD_APPLY_OPTION,
  RD_FILE_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_slice = {
  .name = "slice",
  .operands = "VOLUME [OPTION]...",
  .summary = "write a plane of a volume, as a picture or as data",
  .description =
    "Writes a plane across the array axis that is closest to the anatomical "
    "one. A picture is in radiological convention (the patient's right at the "
    "left, anterior or superior up; sagittal: anterior at the left). Data "
    "(.nii, .npy) are a box as stored, one voxel thick.",
  .options = options,
  .examples =
    "radio slice sub-01\n"
    "radio slice ct/sub-01 --axis coronal -i 120 --window bone -o bone.png\n"
    "radio slice sub-01 -i 64 -o plane.npy",
  .run = run_slice,
};
