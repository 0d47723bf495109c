/* SPDX-License-Identifier: MIT */
/* Shared by the tests of volumes. */
#include <config.h>

#include <ftw.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "tests/profile-tree.h"
#include "tests/volume/fixture.h"

/* In memory if possible: these tests do not depend on a disk, and each of
 * their hundreds of objects is synced. */
int
enter_folder (void **state)
{
  static const char shm[] = "/dev/shm";
  const char *place = access (shm, W_OK | X_OK) == 0 ? shm : ".";
  char folder[64];
  snprintf (folder, sizeof folder, "%s/test-volume.XXXXXX", place);
  if (mkdtemp (folder) == NULL)
    return 1;
  *state = realpath (folder, NULL);
  return *state == NULL || chdir (*state) != 0;
}

static int
remove_one (const char *path, const struct stat *info, int kind,
            struct FTW *where)
{
  (void) info, (void) kind, (void) where;
  return remove (path);
}

void
remove_all (const char *path)
{
  nftw (path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int
leave_folder (void **state)
{
  int failed = chdir ("/");
  remove_all (*state);
  free (*state);
  return failed;
}

static enum radio_status
bytes_read (struct rd_source *source, void *data, size_t nbytes)
{
  struct bytes_source *bytes = (struct bytes_source *) source;
  if (bytes->hook)
    RD_TRY (bytes->hook (bytes, bytes->user_data));
  if (nbytes > bytes->file.nbytes - bytes->at)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: cut short", source->image.name);
  memcpy (data, bytes->file.data + bytes->at, nbytes);
  bytes->at += nbytes;
  return RADIO_OK;
}

static enum radio_status
bytes_finish (struct rd_source *source, uint64_t *trailing_nbytes)
{
  struct bytes_source *bytes = (struct bytes_source *) source;
  assert_int_equal (bytes->at, bytes->file.nbytes);
  *trailing_nbytes = bytes->trailing_nbytes;
  return RADIO_OK;
}

static void
bytes_progress (const struct rd_source *source,
                struct radio_progress *progress)
{
  const struct bytes_source *bytes = (const struct bytes_source *) source;
  progress->done_nbytes = bytes->at;
  progress->total_nbytes = bytes->file.nbytes;
}

void
bytes_source_open (struct bytes_source *source, const struct nifti_spec *spec)
{
  *source = (struct bytes_source) { 0 };
  spec_image (spec, &source->file);
  source->source.image.name = "images/a.nii";
  assert_ok (rd_nifti_parse (source->file.data, source->file.nbytes,
                             "a.nii", &source->source.image.nifti));
  source->at = source->file.nbytes - spec_data_nbytes (spec);
  must_append (&source->source.image.prefix, source->file.data, source->at);
  source->source.read = bytes_read;
  source->source.finish = bytes_finish;
  source->source.progress = bytes_progress;
}

void
bytes_source_close (struct bytes_source *source)
{
  rd_buffer_free (&source->file);
  rd_buffer_free (&source->source.image.prefix);
}

struct nifti_spec
small_spec (void)
{
  return (struct nifti_spec) {
    .dim = { 3, 7, 6, 5 }, .pixdim = { 1, 0.5, 0.75, 2 }, .datatype = 4,
    .sform_code = 1,
    .srow = { { 0.5, 0, 0, -10 }, { 0, 0.75, 0, -20 }, { 0, 0, 2, -30 } },
    .xyzt_units = 2,
  };
}

struct nifti_spec
other_spec (void)
{
  static const unsigned char extension[16] = { 16, 0, 0, 0, 6, 0, 0, 0 };
  struct nifti_spec spec = small_spec ();
  spec.datatype = 16;
  spec.descrip = "the new one";
  spec.extension = extension;
  spec.extension_nbytes = sizeof extension;
  return spec;
}

struct radio_store *
must_open_store (const char *uri)
{
  struct radio_store *store;
  struct radio_store_options options = { .create = true };
  assert_ok (radio_store_open (uri, &options, &store));
  return store;
}

void
must_ingest (struct radio_store *store, const char *path,
             const struct nifti_spec *spec,
             const struct radio_ingest_options *options)
{
  struct bytes_source source BYTES_SOURCE_SCOPE;
  struct radio_ingest_result result;
  bytes_source_open (&source, spec);
  assert_ok (rd_ingest_source (store, &source.source, path, options,
                               &result));
  if (!result.skipped)
    assert_int_equal (result.source_nbytes, source.file.nbytes);
}

struct radio_pipeline *
must_parse_pipeline (const char *text)
{
  struct radio_pipeline *pipeline;
  assert_ok (radio_pipeline_parse (text, &pipeline));
  return pipeline;
}

struct radio_volume *
must_apply (struct radio_volume *volume, const char *text)
{
  struct radio_pipeline *pipeline = must_parse_pipeline (text);
  struct radio_volume *derived;
  assert_ok (radio_volume_apply (volume, pipeline, &derived));
  radio_pipeline_free (pipeline);
  return derived;
}

struct radio_volume *
must_derive (struct radio_volume *volume, const char *text)
{
  struct radio_volume *derived = must_apply (volume, text);
  radio_volume_close (volume);
  return derived;
}

struct radio_volume *
must_open_image (struct radio_store **store, const struct nifti_spec *spec,
            const char *tiling)
{
  const struct radio_ingest_options options = { .tiling = tiling };
  struct radio_volume *volume;
  *store = must_open_store ("memory:");
  must_ingest (*store, "ct/a", spec, &options);
  assert_ok (radio_volume_open (*store, "ct/a", &volume));
  return volume;
}

/* The sizes of x, y, z, t and u, 1 where there is no such dimension. */
static void
get_sizes (const struct nifti_spec *spec, size_t n[5])
{
  static const int64_t defaults[8] = { 3, 5, 4, 3 };
  const int64_t *dim = spec->dim[0] ? spec->dim : defaults;
  for (int64_t i = 0; i < 5; i++)
    n[i] = i < dim[0] ? (size_t) dim[i + 1] : 1;
}

static void
append_element (const struct nifti_spec *spec, size_t unit_nbytes,
                const unsigned char *from, size_t nbytes,
                struct rd_buffer *out)
{
  if (spec->big_endian == MACHINE_IS_BIG_ENDIAN) {
    must_append (out, from, nbytes);
    return;
  }
  for (size_t unit = 0; unit < nbytes; unit += unit_nbytes)
    for (size_t i = unit_nbytes; i-- > 0;)
      must_append (out, from + unit + i, 1);
}

/* Array order: t, then u or the colours, then z, y, x. */
void
expected_elements (const struct nifti_spec *spec,
                   const struct rd_buffer *file, struct rd_buffer *out)
{
  size_t n[5];
  get_sizes (spec, n);
  const struct spec_type *type = spec_find_type (spec->datatype);
  const unsigned char *voxels
    = file->data + file->nbytes - spec_data_nbytes (spec);
  bool is_colour = spec->datatype == 128 || spec->datatype == 2304;
  size_t nc = is_colour ? type->nbytes : n[4];
  size_t item = is_colour ? 1 : type->nbytes;
  out->nbytes = 0;
  for (size_t t = 0; t < n[3]; t++)
    for (size_t c = 0; c < nc; c++)
      for (size_t plane = 0; plane < n[2]; plane++)
        for (size_t i = 0; i < n[0] * n[1]; i++) {
          size_t volume = (is_colour ? 0 : c) * n[3] + t;
          size_t voxel = (volume * n[2] + plane) * n[0] * n[1] + i;
          append_element (spec, type->unit_nbytes,
                          voxels + voxel * type->nbytes
                          + (is_colour ? c : 0), item, out);
        }
}

static void
assert_elements (struct radio_volume *volume, const struct nifti_spec *spec,
                 const struct rd_buffer *file)
{
  struct radio_volume_info info;
  struct rd_buffer expected RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer got RD_BUFFER_SCOPE = { 0 };
  radio_volume_get_info (volume, &info);
  expected_elements (spec, file, &expected);
  struct radio_box box = { .rank = info.array.rank };
  memcpy (box.size, info.array.shape, sizeof box.size);
  assert_int_equal (radio_box_count (&box) * info.array.item_nbytes,
                    expected.nbytes);
  assert_ok (rd_buffer_reserve (&got, expected.nbytes));
  assert_ok (radio_volume_read (volume, &box, RADIO_STORED, got.data,
                                expected.nbytes, NULL));
  assert_memory_equal (got.data, expected.data, expected.nbytes);
}

void
assert_open_volume_is (struct radio_volume *volume,
                       const struct nifti_spec *spec)
{
  struct rd_buffer file RD_BUFFER_SCOPE = { 0 };
  struct radio_volume_info info;
  struct radio_check check;
  spec_image (spec, &file);
  radio_volume_get_info (volume, &info);
  assert_int_equal (info.header_nbytes,
                    file.nbytes - spec_data_nbytes (spec));
  assert_memory_equal (info.header, file.data, info.header_nbytes);
  assert_elements (volume, spec, &file);
  assert_ok (radio_volume_validate (volume, &check, NULL, NULL));
  assert_int_equal (check.damaged_count, 0);
}

void
assert_volume_is (struct radio_store *store, const char *path,
                  const struct nifti_spec *spec)
{
  struct radio_volume *volume;
  assert_ok (radio_volume_open (store, path, &volume));
  assert_open_volume_is (volume, spec);
  radio_volume_close (volume);
}

bool
was_published (enum radio_status status)
{
  return status == RADIO_OK
         || strstr (radio_error_message (), "published, but") != NULL;
}

enum rd_header_state
header_state (struct radio_store *store, const char *path)
{
  struct rd_existing existing RD_EXISTING_SCOPE = { 0 };
  enum rd_header_state state;
  assert_ok (rd_existing_read (store, path, &existing));
  assert_true (existing.meta.has_nifti);
  assert_ok (rd_header_inspect (store, path, &existing.meta.prefix,
                                existing.meta.header_key, &state));
  return state;
}

struct text {
  char *at;
  size_t nbytes;
};

static enum radio_status
add_path (const struct radio_entry *entry, void *user_data)
{
  struct text *text = user_data;
  size_t used = strlen (text->at);
  snprintf (text->at + used, text->nbytes - used, "%s%s", used ? " " : "",
            entry->path);
  return RADIO_OK;
}

void
list_paths (struct radio_store *store, char *text, size_t nbytes)
{
  struct text to = { text, nbytes };
  text[0] = '\0';
  assert_ok (radio_store_list (store, NULL, add_path, &to));
}

struct counts {
  size_t n_objects, n_folders;
};

static enum radio_status
count (const struct rd_io_entry *entry, void *user_data)
{
  struct counts *counts = user_data;
  if (entry->is_prefix)
    counts->n_folders++;
  else
    counts->n_objects++;
  return RADIO_OK;
}

size_t
count_objects (struct radio_store *store, const char *prefix)
{
  struct counts counts = { 0 };
  assert_ok (store->io->ops->list (store->io, prefix, true, count, &counts));
  return counts.n_objects;
}

size_t
count_folders (struct radio_store *store, const char *prefix)
{
  struct counts counts = { 0 };
  assert_ok (store->io->ops->list (store->io, prefix, false, count,
                                   &counts));
  return counts.n_folders;
}

uint64_t
count_tiles (struct radio_volume *volume, const struct radio_box *box)
{
  struct radio_recorder *recorder = tree_begin ();
  struct radio_elements elements;
  assert_ok (radio_volume_read_alloc (volume, box, RADIO_STORED, NULL,
                                      &elements));
  struct radio_profile *profile = tree_end (recorder);
  uint64_t ntiles = tree_total (profile, "tiles");
  radio_free (elements.data);
  radio_profile_close (profile);
  return ntiles;
}
