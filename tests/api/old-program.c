/* SPDX-License-Identifier: MIT */
/* Calls every function that takes options or fills a result.  test-old-programs
 * compiles it with headers of which the last member of each such struct was
 * cut, as those of an older version would be, and runs it with the library of
 * today.  What follows each struct in memory must stay as it was, and must not
 * be taken for a member.
 *
 *   old-program FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <radio/radio.h>

#define GUARD 0xa5
#define GUARD_NBYTES 512

/* A struct, zero or filled with rubbish, and what follows it. */
#define WITH_GUARD(type, name, fill)                                    \
  struct {                                                              \
    struct type value;                                                  \
    unsigned char guard[GUARD_NBYTES];                                  \
  } name;                                                               \
  memset (&name, GUARD, sizeof name);                                   \
  memset (&name.value, fill, sizeof name.value)
#define OPTIONS(type, name) WITH_GUARD (type, name, 0)
#define RESULT(type, name) WITH_GUARD (type, name, 0x5a)

#define CHECK_GUARD(name) check_guard (#name, name.guard)

static void
check_guard (const char *name, const unsigned char *guard)
{
  for (int i = 0; i < GUARD_NBYTES; i++)
    if (guard[i] != GUARD) {
      fprintf (stderr, "byte %d after %s was overwritten\n", i, name);
      exit (EXIT_FAILURE);
    }
}

static void
check (enum radio_status status)
{
  if (status == RADIO_OK)
    return;
  fprintf (stderr, "%s\n", radio_error_message ());
  exit (EXIT_FAILURE);
}

static void
use_volume (struct radio_volume *volume, const char *file)
{
  RESULT (radio_volume_info, info);
  RESULT (radio_check, damage);
  RESULT (radio_stats, stats);
  OPTIONS (radio_read_options, read);
  OPTIONS (radio_export_options, export);
  RESULT (radio_elements, elements);
  int16_t voxel;
  const struct radio_box box = radio_box3 (4, 1, 5, 1, 6, 1);
  struct radio_array *array = radio_volume_array (volume);
  radio_volume_get_info (volume, &info.value);
  CHECK_GUARD (info);
  if (strcmp (info.value.path, "ct/old") != 0
      || info.value.array.shape[2] != 12) {
    fprintf (stderr, "info is wrong\n");
    exit (EXIT_FAILURE);
  }
  check (radio_volume_validate (volume, &damage.value, NULL, NULL));
  CHECK_GUARD (damage);
  check (radio_array_check (array, &damage.value, NULL, NULL));
  CHECK_GUARD (damage);
  check (radio_volume_stats (volume, false, &stats.value));
  CHECK_GUARD (stats);
  check (radio_array_stats (array, &stats.value));
  CHECK_GUARD (stats);
  check (radio_volume_read (volume, &box, RADIO_INT16, &voxel, sizeof voxel,
                            &read.value));
  check (radio_array_read (array, &box, RADIO_INT16, &voxel, sizeof voxel,
                           &read.value));
  check (radio_volume_read_alloc (volume, &box, RADIO_STORED, &read.value,
                                  &elements.value));
  CHECK_GUARD (elements);
  radio_free (elements.value.data);
  check (radio_volume_read_plane_alloc (volume, RADIO_AXIAL, 0, RADIO_STORED,
                                        &read.value, &elements.value));
  CHECK_GUARD (elements);
  radio_free (elements.value.data);
  check (radio_volume_export (volume, NULL, file, &export.value));
}

static void
write_volume (struct radio_store *store)
{
  OPTIONS (radio_create_options, create);
  RESULT (radio_ingest_result, written);
  const uint8_t voxels[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  const struct radio_box box = radio_box3 (0, 2, 0, 2, 0, 2);
  struct radio_writer *writer;
  create.value.rank = 3;
  memcpy (create.value.shape, box.size, sizeof box.size);
  create.value.dtype = RADIO_UINT8;
  check (radio_volume_create (store, "seg/made", &create.value, &writer));
  check (radio_volume_write_slab (writer, &box, voxels, sizeof voxels, NULL));
  check (radio_volume_commit (writer, &written.value));
  CHECK_GUARD (written);
}

/* Uses tables of subjects, from a text table, and of volumes. */
static void
use_tables (struct radio_store *store)
{
  static const char text[] = "id\tage\nsub-01\t40\n";
  OPTIONS (radio_csv_options, parse);
  OPTIONS (radio_index_options, index);
  RESULT (radio_csv_info, csv_info);
  RESULT (radio_csv_column, csv_column);
  RESULT (radio_table_result, written);
  RESULT (radio_table_info, info);
  RESULT (radio_column_info, column);
  RESULT (radio_index_result, indexed);
  struct radio_csv *csv;
  struct radio_table_edit *edit;
  struct radio_table *table;
  struct radio_strings ids = { 0 };
  struct radio_cells age;
  check (radio_csv_parse (text, strlen (text), "text", &parse.value, &csv));
  radio_csv_get_info (csv, &csv_info.value);
  CHECK_GUARD (csv_info);
  check (radio_csv_get_column (csv, 1, &csv_column.value));
  CHECK_GUARD (csv_column);
  check (radio_csv_read_text (csv, 0, &ids));
  check (radio_csv_read (csv, 1, &age));
  check (radio_table_edit_new (store, RADIO_TABLE_SUBJECTS, &edit));
  check (radio_table_edit_add_rows (edit, &ids));
  check (radio_table_edit_set (edit, &ids, &age));
  check (radio_table_edit_commit (edit, &written.value));
  CHECK_GUARD (written);
  radio_table_edit_free (edit);
  radio_strings_free (&ids);
  radio_csv_close (csv);

  check (radio_table_open (store, RADIO_TABLE_SUBJECTS, &table));
  radio_table_get_info (table, &info.value);
  CHECK_GUARD (info);
  check (radio_table_get_column (table, 0, &column.value));
  CHECK_GUARD (column);
  if (info.value.row_count != 1 || strcmp (column.value.name, "age") != 0) {
    fprintf (stderr, "the table is wrong\n");
    exit (EXIT_FAILURE);
  }
  OPTIONS (radio_split_options, split);
  static const double fractions[] = { 0.5, 0.5 };
  uint32_t parts[1];
  split.value.fractions = fractions;
  split.value.part_count = 2;
  check (radio_table_split (table, &split.value, parts, sizeof parts));
  radio_table_close (table);
  check (radio_store_index (store, NULL, &index.value, &indexed.value));
  CHECK_GUARD (indexed);

  OPTIONS (radio_select_options, select);
  struct radio_cohort *cohort;
  struct radio_view *view;
  select.value.where = "nbytes > 0";
  check (radio_cohort_open (store, &cohort));
  check (radio_cohort_has_tables (cohort) ? RADIO_OK : RADIO_ERROR_FORMAT);
  check (radio_cohort_select (cohort, &select.value, &view, NULL));
  if (radio_view_count (view) == 0) {
    fprintf (stderr, "the view is wrong\n");
    exit (EXIT_FAILURE);
  }
  RESULT (radio_view_column, of_view);
  check (radio_view_get_column (view, "nbytes", &of_view.value));
  CHECK_GUARD (of_view);
  radio_view_free (view);
  radio_cohort_close (cohort);

  static const char *const from[] = { "seg/made" };
  OPTIONS (radio_index_copies_options, copies);
  check (radio_store_index_copies (store, from, store, from, 1, &copies.value,
                                   &indexed.value));
  CHECK_GUARD (indexed);
}

static void
use_layout (void)
{
  RESULT (radio_layout_file, file);
  struct radio_layout *layout;
  check (radio_layout_open ("{subject}.nii", &layout));
  check (radio_layout_name (layout, "old.nii", NULL, &file.value));
  CHECK_GUARD (file);
  free (file.value.path);
  radio_layout_close (layout);
}

static enum radio_status
open_made (size_t i, struct radio_volume **volume, struct radio_volume **mask,
           void *user_data)
{
  (void) i;
  (void) mask;
  return radio_volume_open (user_data, "seg/made", volume);
}

static enum radio_status
take_figures (const struct radio_group_figures *figures, void *user_data)
{
  (void) user_data;
  return figures->stats->count == 8 ? RADIO_OK : RADIO_ERROR_FORMAT;
}

/* Volumes of a store together. */
static void
use_cohort (struct radio_store *store)
{
  OPTIONS (radio_pairs_options, pairs);
  OPTIONS (radio_group_options, group);
  RESULT (radio_pairs_result, checked);
  check (radio_store_check_pairs (store, &pairs.value, &checked.value));
  CHECK_GUARD (checked);
  check (radio_group_stats (1, open_made, &group.value, take_figures, store));
}

static void
use_store (struct radio_context *context, const char *file)
{
  OPTIONS (radio_store_options, options);
  OPTIONS (radio_phantom_options, phantom);
  OPTIONS (radio_ingest_options, ingest);
  OPTIONS (radio_copy_options, copy);
  OPTIONS (radio_array_options, create);
  RESULT (radio_ingest_result, ingested);
  RESULT (radio_copy_result, copied);
  RESULT (radio_gc_result, removed);
  struct radio_store *store;
  struct radio_volume *volume;
  struct radio_array *array;
  options.value.context = context;
  options.value.s3.region = "eu-central-1";
  check (radio_store_open ("memory:", &options.value, &store));
  phantom.value.shape[0] = 8;
  phantom.value.shape[1] = 10;
  phantom.value.shape[2] = 12;
  check (radio_phantom (store, "ct/old", &phantom.value));
  check (radio_volume_open (store, "ct/old", &volume));
  use_volume (volume, file);
  radio_volume_close (volume);

  check (radio_ingest (store, file, "ct/new", &ingest.value,
                       &ingested.value));
  CHECK_GUARD (ingested);
  check (radio_volume_copy (store, "ct/new", store, "ct/copy", &copy.value,
                            &copied.value));
  CHECK_GUARD (copied);
  write_volume (store);
  use_tables (store);
  use_cohort (store);
  use_layout ();
  check (radio_store_gc (store, false, &removed.value));
  CHECK_GUARD (removed);
  create.value.rank = 1;
  create.value.shape[0] = create.value.chunk_shape[0] = 3;
  create.value.data_type = "uint8";
  check (radio_array_create (store, "array", &create.value, &array));
  radio_array_close (array);
  radio_store_close (store);

  OPTIONS (radio_file_options, in_file);
  check (radio_volume_open_file (context, file, &in_file.value, &volume));
  radio_volume_close (volume);
}

static void
use_profile (struct radio_recorder *recorder, const char *file)
{
  RESULT (radio_profile_info, info);
  RESULT (radio_profile_share, share);
  RESULT (radio_imbalance, imbalance);
  OPTIONS (radio_profile_write_options, write);
  struct radio_profile *profile;
  check (radio_recorder_stop (recorder, &profile));
  radio_profile_get_info (profile, &info.value);
  CHECK_GUARD (info);
  radio_profile_node_part (profile, 0, 0, &share.value);
  CHECK_GUARD (share);
  radio_profile_imbalance (profile, 0, &imbalance.value);
  CHECK_GUARD (imbalance);
  RESULT (radio_comparison_info, compared);
  struct radio_comparison *comparison;
  check (radio_profile_compare (profile, profile, &comparison));
  radio_comparison_get_info (comparison, &compared.value);
  CHECK_GUARD (compared);
  radio_comparison_close (comparison);
  check (radio_profile_write (profile, file, &write.value));
  radio_profile_close (profile);
}

int
main (int argc, char **argv)
{
  OPTIONS (radio_recorder_options, record);
  OPTIONS (radio_context_options, options);
  struct radio_recorder *recorder = NULL;
  struct radio_context *context;
  char volume[4096], profile[4096];
  if (argc != 2)
    return 2;
  snprintf (volume, sizeof volume, "%s/volume.nii", argv[1]);
  snprintf (profile, sizeof profile, "%s/profile.json", argv[1]);
  enum radio_status status = radio_recorder_start (&record.value, &recorder);
  if (status != RADIO_ERROR_UNSUPPORTED)
    check (status);
  check (radio_context_open (&options.value, &context));
  use_store (context, volume);
  radio_context_close (context);
  if (recorder)
    use_profile (recorder, profile);
  puts ("good");
}
