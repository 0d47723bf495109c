/* SPDX-License-Identifier: MIT */
/* The operations that are measured, and the volumes that they are measured
 * on. */
#include <config.h>

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "src/base/cpu-quota.h"
#include "tools/bench/ops.h"
#include "tools/parse.h"
#include "tools/text.h"

/* Scaling of planes in place, which other programs are measured by; by 1, so
 * that values stay as they are. */
#define SCALE_NAME "scale"
#define SCALE_TEXT "linear 1,0"

/* The name of the plain read. */
#define READ_NAME "read"

/* Sizes that examples are made for. */
#define LEAST_SIZE 8
#define MOST_SIZE 4096

static const uint64_t default_sizes[] = { 32, 64, 128, 256, 512 };
static const uint64_t plane_sizes[] = { 512, 1024, 2048 };

/* Bytes of a slab that is written at a time. */
#define SLAB_NBYTES ((uint64_t) 4 << 20)

/*------------------------------------------------------------------------
 * Options
 *----------------------------------------------------------------------*/

/* Returns whether a name is an operation's, and its example for a size. */
static bool
find_example (const char *name, uint64_t size,
              char text[RADIO_EXAMPLE_NBYTES])
{
  size_t length = strlen (name);
  for (size_t i = 0; radio_pipeline_example (i, size, text); i++)
    if (strcspn (text, " ") == length && memcmp (text, name, length) == 0)
      return true;
  return false;
}

static bool
check_name (struct rd_args *args, const char *name)
{
  char text[RADIO_EXAMPLE_NBYTES], list[1024] = SCALE_NAME;
  if (strcmp (name, SCALE_NAME) == 0
      || find_example (name, LEAST_SIZE, text))
    return true;
  for (size_t i = 0; radio_pipeline_example (i, LEAST_SIZE, text); i++) {
    size_t used = strlen (list);
    snprintf (list + used, sizeof list - used, ", %.*s",
              (int) strcspn (text, " "), text);
  }
  rd_usage_error (args, "unknown operation '%s'; use some of %s, or a pipeline "
                  "as 'clamp -200,400 | flip x'", name, list);
  return false;
}

static bool
add_chosen (struct rd_ops *ops, const char *text, size_t nbytes)
{
  char **grown = realloc (ops->chosen,
                          (ops->nchosen + 1) * sizeof *ops->chosen);
  char *copy = strndup (text, nbytes);
  if (grown)
    ops->chosen = grown;
  if (grown == NULL || copy == NULL) {
    free (copy);
    rd_error_memory ();
    return false;
  }
  ops->chosen[ops->nchosen++] = copy;
  return true;
}

bool
rd_ops_choose (struct rd_args *args, const char *value, struct rd_ops *ops)
{
  if (strpbrk (value, " |") != NULL) {
    struct radio_pipeline *pipeline;
    if (radio_pipeline_parse (value, &pipeline) != RADIO_OK) {
      rd_usage_error (args, "%s", radio_error_message ());
      return false;
    }
    bool added = add_chosen (ops, radio_pipeline_text (pipeline), SIZE_MAX);
    radio_pipeline_free (pipeline);
    return added;
  }
  for (;;) {
    size_t length = strcspn (value, ",");
    if (!add_chosen (ops, value, length)
        || !check_name (args, ops->chosen[ops->nchosen - 1]))
      return false;
    if (value[length] == '\0')
      return true;
    value += length + 1;
  }
}

bool
rd_ops_choose_sizes (struct rd_args *args, struct rd_ops *ops)
{
  const char *text = args->value;
  while (ops->nsizes < RD_OPS_MAX_SIZES) {
    uint64_t *size = &ops->sizes[ops->nsizes];
    if (!rd_read_digits (&text, size) || *size < LEAST_SIZE
        || *size > MOST_SIZE)
      break;
    ops->nsizes++;
    if (*text == '\0')
      return true;
    if (*text++ != ',')
      break;
  }
  rd_usage_error (args, "--%s: '%s' is not a list of at most %d sizes from "
                  "%d to %d, as 32,64", args->option->name, args->value,
                  RD_OPS_MAX_SIZES, LEAST_SIZE, MOST_SIZE);
  return false;
}

/* NIfTI has these, and pipelines compute them. */
static bool
is_measured_type (enum radio_dtype dtype)
{
  return (dtype >= RADIO_INT8 && dtype <= RADIO_UINT64)
         || dtype == RADIO_FLOAT32 || dtype == RADIO_FLOAT64;
}

bool
rd_ops_choose_types (struct rd_args *args, struct rd_ops *ops)
{
  const char *text = args->value;
  for (;;) {
    size_t length = strcspn (text, ",");
    RD_FREE char *name = strndup (text, length);
    enum radio_dtype dtype;
    if (ops->ndtypes == RD_OPS_MAX_TYPES || name == NULL
        || radio_dtype_parse (name, &dtype) != RADIO_OK
        || !is_measured_type (dtype))
      break;
    ops->dtypes[ops->ndtypes++] = dtype;
    if (text[length] == '\0')
      return true;
    text += length + 1;
  }
  rd_usage_error (args, "--%s: '%s' is not a list of types, as float32,int16,"
                  "uint8", args->option->name, args->value);
  return false;
}

/*------------------------------------------------------------------------
 * Volumes
 *----------------------------------------------------------------------*/

const char *
rd_op_source_text (const struct rd_op_source *source, char text[80])
{
  char size[32];
  snprintf (size, sizeof size, "%" PRIu64, source->size);
  snprintf (text, 80, source->is_plane ? "%s x %s %s" : "%s x %s x %s %s",
            size, size, source->is_plane ? radio_dtype_name (source->dtype)
                                         : size,
            radio_dtype_name (source->dtype));
  return text;
}

#define FILL(type, least, span)                                         \
  do {                                                                  \
    type *to = buffer;                                                  \
    for (uint64_t z = 0; z < nplanes; z++)                              \
      for (uint64_t y = 0; y < size; y++)                               \
        for (uint64_t x = 0; x < size; x++)                             \
          *to++ = (type) ((int64_t) (((first + z) * 29 + y * 13 + x * 7) \
                                     % (span)) + (least));              \
  } while (0)

/* Fills planes with values like those of a CT, as far as the type has them. */
static void
fill_planes (enum radio_dtype dtype, uint64_t size, uint64_t first,
             uint64_t nplanes, void *buffer)
{
  switch (dtype) {
  case RADIO_INT8: FILL (int8_t, -100, 200); break;
  case RADIO_INT16: FILL (int16_t, -1000, 3000); break;
  case RADIO_INT32: FILL (int32_t, -1000, 3000); break;
  case RADIO_INT64: FILL (int64_t, -1000, 3000); break;
  case RADIO_UINT8: FILL (uint8_t, 0, 250); break;
  case RADIO_UINT16: FILL (uint16_t, 0, 3000); break;
  case RADIO_UINT32: FILL (uint32_t, 0, 3000); break;
  case RADIO_UINT64: FILL (uint64_t, 0, 3000); break;
  case RADIO_FLOAT64: FILL (double, -1000, 3000); break;
  default: FILL (float, -1000, 3000); break;
  }
}

/* Writes the volume in whole planes; the writer is the caller's. */
static enum radio_status
write_planes (const struct rd_op_source *source, struct radio_writer *writer,
              void *buffer, uint64_t nplanes)
{
  uint64_t size = source->size;
  size_t plane = (size_t) (size * size) * radio_dtype_nbytes (source->dtype);
  for (uint64_t z = 0; z < size; z += nplanes) {
    uint64_t n = size - z < nplanes ? size - z : nplanes;
    const struct radio_box box = {
      .rank = 3, .start = { z, 0, 0 }, .size = { n, size, size },
    };
    fill_planes (source->dtype, size, z, n, buffer);
    enum radio_status status = radio_volume_write_slab (
      writer, &box, buffer, plane * (size_t) n, NULL);
    if (status != RADIO_OK)
      return status;
  }
  return RADIO_OK;
}

static int
make_plane (struct rd_op_source *source, struct radio_context *context)
{
  uint64_t size = source->size;
  const struct radio_create_options options = {
    .rank = 3, .shape = { 1, size, size }, .dtype = source->dtype,
    .source_name = "generated",
  };
  source->memory = malloc ((size_t) source->nbytes);
  if (source->memory == NULL)
    return rd_error_memory ();
  fill_planes (source->dtype, size, 0, 1, source->memory);
  return radio_volume_open_memory (context, &options, source->memory,
                                   (size_t) source->nbytes, NULL,
                                   &source->volume) == RADIO_OK
         ? RD_EXIT_OK : rd_error_library (NULL);
}

static int
make_volume (struct rd_op_source *source)
{
  uint64_t size = source->size;
  uint64_t plane = size * size * radio_dtype_nbytes (source->dtype);
  uint64_t nplanes = SLAB_NBYTES / plane > 0 ? SLAB_NBYTES / plane : 1;
  const struct radio_create_options options = {
    .rank = 3,
    .shape = { size, size, size },
    .dtype = source->dtype,
    .affine = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } },
    .source_name = "generated",
    .ingest = { .tiling = "axial", .codec = "none" },
  };
  struct radio_writer *writer = NULL;
  RD_FREE void *buffer = malloc ((size_t) (plane * nplanes));
  if (buffer == NULL)
    return rd_error_memory ();
  if (radio_volume_create (source->store, "ops/volume", &options, &writer)
      != RADIO_OK)
    return rd_error_library (NULL);
  enum radio_status status = write_planes (source, writer, buffer, nplanes);
  if (status == RADIO_OK)
    status = radio_volume_commit (writer, NULL);
  else
    radio_volume_abort (writer);
  if (status == RADIO_OK)
    status = radio_volume_open (source->store, "ops/volume",
                                &source->volume);
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (NULL);
}

static int
open_source (const struct rd_ops *ops, struct rd_op_source *source)
{
  const struct radio_context_options options = {
    .nthreads = source->nthreads,
    .memory_limit_nbytes = ops->args->memory_nbytes,
    .cache_nbytes = RADIO_NO_CACHE,
  };
  struct radio_context *context;
  if (radio_context_open (&options, &context) != RADIO_OK)
    return rd_error_library (NULL);
  const struct radio_store_options store = { .context = context };
  int failed;
  if (source->is_plane)
    failed = make_plane (source, context);
  else if (radio_store_open ("memory:", &store, &source->store) == RADIO_OK)
    failed = make_volume (source);
  else
    failed = rd_error_library (NULL);
  radio_context_close (context);
  return failed;
}

/* The bytes of memory that the machine has left: what the kernel can give
 * without swapping or, where it does not say, all of it. */
static uint64_t
available_nbytes (void)
{
  uint64_t kilobytes = 0;
  FILE *file = fopen ("/proc/meminfo", "re");
  char line[128];
  while (file && kilobytes == 0 && fgets (line, sizeof line, file))
    if (strncmp (line, "MemAvailable:", 13) == 0) {
      char *number = line + 13 + strspn (line + 13, " ");
      number[strspn (number, "0123456789")] = '\0';
      if (!rd_parse_u64 (number, &kilobytes))
        kilobytes = 0;
    }
  if (file)
    fclose (file);
  if (kilobytes > 0)
    return kilobytes * 1024;
  long pages = sysconf (_SC_PHYS_PAGES), page = sysconf (_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t) pages * (uint64_t) page
                               : UINT64_MAX;
}

/* The memory of a source: its voxels, and as many float64 for each of the
 * destination and of a copy. */
static uint64_t
wanted_nbytes (const struct rd_op_source *source)
{
  return source->nbytes + 2 * source->nbytes
         / radio_dtype_nbytes (source->dtype) * sizeof (double);
}

/* Opens a source, unless it does not fit; *left is the memory that is left. */
static int
open_if_it_fits (struct rd_ops *ops, struct rd_op_source *source,
                 uint64_t *left)
{
  uint64_t wanted = wanted_nbytes (source);
  if (wanted > *left) {
    char a[RD_TEXT_NBYTES], b[RD_TEXT_NBYTES];
    source->skipped = rd_format ("it takes %s of memory, and %s are left; "
                                 "give smaller --sizes",
                                 rd_text_size (wanted, a),
                                 rd_text_size (*left, b));
    return source->skipped ? RD_EXIT_OK : RD_EXIT_FAILED;
  }
  *left -= source->nbytes;
  return open_source (ops, source);
}

static void
add_source (struct rd_ops *ops, uint64_t size, bool is_plane,
            enum radio_dtype dtype, unsigned nthreads)
{
  ops->sources[ops->nsources++] = (struct rd_op_source) {
    .size = size, .is_plane = is_plane, .dtype = dtype, .nthreads = nthreads,
    .nbytes = size * size * (is_plane ? 1 : size)
              * radio_dtype_nbytes (dtype),
  };
}

static bool
is_chosen (const struct rd_ops *ops, const char *name)
{
  for (size_t i = 0; i < ops->nchosen; i++)
    if (strcmp (ops->chosen[i], name) == 0)
      return true;
  return ops->nchosen == 0;
}

static int
open_sources (struct rd_ops *ops)
{
  size_t nplanes = !ops->only_volumes && is_chosen (ops, SCALE_NAME)
    ? sizeof plane_sizes / sizeof *plane_sizes : 0;
  bool has_cubes = ops->nchosen != 1 || nplanes == 0;
  ops->sources = calloc (ops->threads.n * (ops->ndtypes * ops->nsizes
                                           + nplanes) + 1,
                         sizeof *ops->sources);
  if (ops->sources == NULL)
    return rd_error_memory ();
  for (size_t t = 0; t < ops->threads.n; t++) {
    for (size_t d = 0; d < ops->ndtypes && has_cubes; d++)
      for (size_t i = 0; i < ops->nsizes; i++)
        add_source (ops, ops->sizes[i], false, ops->dtypes[d],
                    ops->threads.at[t]);
    for (size_t i = 0; i < nplanes; i++)
      add_source (ops, plane_sizes[i], true, RADIO_FLOAT32,
                  ops->threads.at[t]);
  }
  uint64_t left = available_nbytes ();
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < ops->nsources && !failed; i++)
    failed = open_if_it_fits (ops, &ops->sources[i], &left);
  return failed;
}

/*------------------------------------------------------------------------
 * Cases
 *----------------------------------------------------------------------*/

/* The name of the scope over all sizes of an operation: "clamp", with what
 * else there are several of. */
static char *
root_name (const struct rd_ops *ops, const struct rd_op_case *one)
{
  const struct rd_op_source *source = one->source;
  char type[32] = "", threads[32] = "";
  if (ops->ndtypes > 1 && !source->is_plane)
    snprintf (type, sizeof type, ", %s", radio_dtype_name (source->dtype));
  if (ops->threads.n > 1)
    snprintf (threads, sizeof threads, ", %u thread%s", source->nthreads,
              rd_plural (source->nthreads));
  return rd_format ("%s%s%s%s", one->name, source->is_plane ? ", planes" : "",
                    type, threads);
}

/* The type in which pipelines compute a volume's values. */
static enum radio_dtype
computed_type (struct radio_volume *volume)
{
  struct radio_pipeline *pipeline = NULL;
  struct radio_volume *derived = NULL;
  struct radio_volume_info info = { .array.dtype = RADIO_FLOAT32 };
  if (radio_pipeline_parse ("linear 1,0", &pipeline) == RADIO_OK
      && radio_volume_apply (volume, pipeline, &derived) == RADIO_OK)
    radio_volume_get_info (derived, &info);
  radio_volume_close (derived);
  radio_pipeline_free (pipeline);
  return info.array.dtype;
}

/* Applies the pipeline; what a volume cannot have is no error. */
static void
apply_pipeline (struct rd_op_case *one)
{
  struct radio_pipeline *pipeline = NULL;
  enum radio_status status = radio_pipeline_parse (one->text, &pipeline);
  if (status == RADIO_OK)
    status = radio_volume_apply (one->source->volume, pipeline,
                                 &one->volume);
  radio_pipeline_free (pipeline);
  if (status == RADIO_OK)
    one->is_derived = true;
  else
    one->skipped = rd_format ("%s", radio_error_message ());
}

static int
add_case (struct rd_ops *ops, const struct rd_op_source *source,
          const char *name, const char *text)
{
  struct rd_op_case *one = &ops->cases[ops->ncases++];
  *one = (struct rd_op_case) {
    .source = source, .volume = source->volume,
    .in_place = source->is_plane && *text,
  };
  one->name = rd_format ("%s", name);
  one->text = rd_format ("%s", text);
  if (one->name == NULL || one->text == NULL)
    return RD_EXIT_FAILED;
  one->root = root_name (ops, one);
  one->branch = rd_format ("%" PRIu64, source->size);
  if (one->root == NULL || one->branch == NULL)
    return RD_EXIT_FAILED;
  for (int i = 0; i < 2; i++)
    one->sites[i] = (struct radio_site) {
      .name = i ? one->branch : one->root, .category = "operation",
      .function = __func__, .file = __FILE__, .line = __LINE__,
    };
  if (source->skipped)
    one->skipped = rd_format ("%s", source->skipped);
  else if (*text)
    apply_pipeline (one);
  if (one->skipped)
    return RD_EXIT_OK;
  if (one->volume == NULL)
    return RD_EXIT_FAILED;
  struct radio_volume_info info;
  radio_volume_get_info (one->volume, &info);
  one->dtype = computed_type (source->volume);
  one->box.rank = info.array.rank;
  one->noutput = 1;
  for (size_t i = 0; i < info.array.rank; i++) {
    one->box.size[i] = info.array.shape[i];
    one->noutput *= info.array.shape[i];
  }
  one->output_nbytes = one->noutput * radio_dtype_nbytes (one->dtype);
  return RD_EXIT_OK;
}

/* Adds the chosen operations, or all. */
static int
add_cases (struct rd_ops *ops, const struct rd_op_source *source)
{
  char text[RADIO_EXAMPLE_NBYTES];
  int failed = add_case (ops, source, READ_NAME, "");
  if (source->is_plane)
    return failed ? failed : add_case (ops, source, SCALE_NAME, SCALE_TEXT);
  for (size_t i = 0; ops->nchosen == 0 && !failed
       && radio_pipeline_example (i, source->size, text); i++) {
    RD_FREE char *name = strndup (text, strcspn (text, " "));
    failed = name ? add_case (ops, source, name, text) : rd_error_memory ();
  }
  for (size_t i = 0; i < ops->nchosen && !failed; i++) {
    const char *chosen = ops->chosen[i];
    if (find_example (chosen, source->size, text))
      failed = add_case (ops, source, chosen, text);
    else if (strcmp (chosen, SCALE_NAME) != 0)
      failed = add_case (ops, source, chosen, chosen);
  }
  return failed;
}

int
rd_ops_open (struct rd_ops *ops)
{
  char text[RADIO_EXAMPLE_NBYTES];
  size_t n = ops->nchosen;
  if (ops->nsizes == 0) {
    memcpy (ops->sizes, default_sizes, sizeof default_sizes);
    ops->nsizes = sizeof default_sizes / sizeof *default_sizes;
  }
  if (ops->ndtypes == 0)
    ops->dtypes[ops->ndtypes++] = RADIO_FLOAT32;
  if (ops->threads.n == 0)
    ops->threads.at[ops->threads.n++] = rd_count_cpus ();
  while (ops->nchosen == 0 && radio_pipeline_example (n, LEAST_SIZE, text))
    n++;
  int failed = open_sources (ops);
  if (failed)
    return failed;
  ops->cases = calloc (ops->nsources * (n + 2), sizeof *ops->cases);
  if (ops->cases == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < ops->nsources && !failed; i++)
    failed = add_cases (ops, &ops->sources[i]);
  return failed;
}

void
rd_ops_close (struct rd_ops *ops)
{
  for (size_t i = 0; i < ops->ncases; i++) {
    struct rd_op_case *one = &ops->cases[i];
    if (one->is_derived)
      radio_volume_close (one->volume);
    free (one->name);
    free (one->text);
    free (one->skipped);
    free (one->root);
    free (one->branch);
    free (one->sample.seconds);
  }
  for (size_t i = 0; i < ops->nsources; i++) {
    radio_volume_close (ops->sources[i].volume);
    radio_store_close (ops->sources[i].store);
    free (ops->sources[i].memory);
    free (ops->sources[i].skipped);
  }
  for (size_t i = 0; i < ops->nchosen; i++)
    free (ops->chosen[i]);
  free (ops->cases);
  free (ops->sources);
  free (ops->chosen);
  rd_destination_clear (&ops->destination);
}
