/* SPDX-License-Identifier: MIT */
/* Commits: two writers at once lose nothing, a writer that fails or dies at any
 * of its steps leaves the table as it was or with all of the edit, and a
 * collector removes what no one needs and nothing else. */
#include <config.h>

#include <sys/wait.h>
#include <unistd.h>

#include <radio/ingest.h>

#include "src/array/context.h"
#include "src/table/heads.h"
#include "src/table/texts.h"
#include "tests/io/fault.h"
#include "tests/table/cells.h"

#define PATH RADIO_TABLE_VOLUMES "/ct"
#define CRASHED 42
#define STORE "table.zarr"

/* A store in a folder, or in memory if its path is NULL, that fails. */
static struct radio_store *
open_failing (const char *path, const struct rd_fault *fault)
{
  const struct rd_fault_plan plan = { fault, fault ? 1 : 0, 0 };
  const struct radio_store_options options = { .create = true };
  struct radio_store *store;
  struct rd_io *io;
  assert_ok (path ? rd_io_open (path, true, &io) : rd_io_memory_open (&io));
  assert_ok (rd_io_fault_open (io, &plan, &io));
  assert_ok (rd_store_open_io (io, &options, &store));
  return store;
}

static void
remove_store (void)
{
  struct rd_io *io;
  assert_ok (rd_io_open (STORE, true, &io));
  assert_ok (io->ops->remove_tree (io, ""));
  rd_io_close (io);
}

static enum radio_status
count_generation (const struct rd_io_entry *entry, void *user_data)
{
  unsigned *n = user_data;
  *n += entry->is_prefix && entry->name[0] == 't';
  return RADIO_OK;
}

static unsigned
count_generations (struct radio_store *store)
{
  unsigned n = 0;
  assert_ok (store->io->ops->list (store->io, PATH, false, count_generation,
                                   &n));
  return n;
}

static void
edits_of_two_writers_are_merged (void **state)
{
  (void) state;
  struct radio_store *store = open_failing (NULL, NULL);
  struct radio_table_edit *first, *second;
  struct radio_table_result result;
  assert_ok (commit_cell (store, PATH, "a", "site", "x"));
  /* Both were made of the same table. */
  assert_ok (radio_table_edit_new (store, PATH, &first));
  assert_ok (radio_table_edit_new (store, PATH, &second));
  assert_ok (add_rows (first, "b"));
  assert_ok (set_text (first, "a,b", "site", "1,1"));
  assert_ok (add_rows (second, "c"));
  assert_ok (set_text (second, "a,c", "site", "2,2"));
  assert_ok (radio_table_edit_commit (first, &result));
  assert_int_equal (result.head, 2);
  assert_ok (radio_table_edit_commit (second, &result));
  assert_int_equal (result.head, 3);
  assert_newest (store, PATH, NULL, "a,b,c");
  assert_newest (store, PATH, "site", "2,1,2");
  radio_table_edit_free (first);
  radio_table_edit_free (second);
  radio_store_close (store);
}

/* A head that was put while the writer did not look: its put of the same
 * number fails, and it begins again. */
static void
a_taken_number_is_merged_with_what_took_it (void **state)
{
  (void) state;
  pid_t children[4];
  struct radio_store *store;
  remove_store ();
  store = open_failing (STORE, NULL);
  assert_ok (commit_cell (store, PATH, "a", "site", "x"));
  for (int i = 0; i < 4; i++) {
    children[i] = fork ();
    assert_true (children[i] >= 0);
    if (children[i] == 0) {
      const char *const ids[] = { "p", "q", "r", "s" };
      struct radio_store *own;
      if (radio_store_open (STORE, NULL, &own) != RADIO_OK)
        _exit (1);
      for (int j = 0; j < 5; j++) {
        char id[8];
        snprintf (id, sizeof id, "%s%d", ids[i], j);
        if (commit_cell (own, PATH, id, "site", "y") != RADIO_OK)
          _exit (1);
      }
      _exit (0);
    }
  }
  for (int i = 0; i < 4; i++) {
    int status;
    assert_int_equal (waitpid (children[i], &status, 0), children[i]);
    assert_int_equal (status, 0);
  }
  struct radio_table *table;
  struct radio_table_info info;
  assert_ok (radio_table_open (store, PATH, &table));
  radio_table_get_info (table, &info);
  assert_int_equal (info.row_count, 21);
  assert_int_equal (info.head, 21);
  radio_table_close (table);
  assert_int_equal (count_generations (store), 21);
  radio_store_close (store);
}

static void
assert_is_either (struct radio_store *store, const char *before,
                  const char *after)
{
  struct radio_table *table;
  struct radio_table_info info;
  enum radio_status status = radio_table_open (store, PATH, &table);
  if (status == RADIO_ERROR_NOT_FOUND) {
    assert_null (before);
    return;
  }
  assert_ok (status);
  radio_table_get_info (table, &info);
  bool is_after = info.row_count == 2 || !before;
  assert_column (table, NULL, is_after ? (before ? "a,b" : "b") : "a");
  assert_column (table, "site", is_after ? after : before);
  radio_table_close (table);
}

/* The table is as before the commit of a row b or with all of it; then the next
 * commit works, and garbage is collected. */
static void
check_after (struct radio_store *store, bool has_table)
{
  assert_is_either (store, has_table ? "x" : NULL, has_table ? "x,y" : "y");
  assert_ok (commit_cell (store, PATH, "b", "site", "z"));
  assert_newest (store, PATH, "site", has_table ? "x,z" : "z");
  assert_ok (radio_store_gc (store, false, NULL));
  assert_true (count_generations (store) <= 3);
  assert_newest (store, PATH, "site", has_table ? "x,z" : "z");
}

/* Goes through a commit's steps, each of which fails. */
static void
fail_at_each_step (bool has_table, enum rd_fault_kind kind)
{
  bool has_failed = true;
  struct radio_store *store = open_failing (NULL, NULL);
  if (has_table)
    assert_ok (commit_cell (store, PATH, "a", "site", "x"));
  const uint64_t nbefore = rd_io_fault_count (store->io, RD_FAULT_ANY);
  assert_ok (commit_cell (store, PATH, "b", "site", "y"));
  const uint64_t nafter = rd_io_fault_count (store->io, RD_FAULT_ANY);
  radio_store_close (store);
  for (uint64_t nth = nbefore + 1; nth <= nafter; nth++) {
    const struct rd_fault fault = {
      .op = RD_FAULT_ANY, .nth = nth, .kind = kind, .status = RADIO_ERROR_IO,
    };
    store = open_failing (NULL, &fault);
    if (has_table)
      assert_ok (commit_cell (store, PATH, "a", "site", "x"));
    has_failed = commit_cell (store, PATH, "b", "site", "y") != RADIO_OK;
    if (!has_failed)
      assert_newest (store, PATH, "site", has_table ? "x,y" : "y");
    check_after (store, has_table);
    radio_store_close (store);
  }
}

static void
a_writer_that_fails_at_any_step_leaves_one_of_both (void **state)
{
  (void) state;
  fail_at_each_step (false, RD_FAULT_FAIL);
  fail_at_each_step (true, RD_FAULT_FAIL);
  fail_at_each_step (true, RD_FAULT_LATE);
}

static void
a_writer_that_dies_at_any_step_leaves_one_of_both (void **state)
{
  (void) state;
  bool has_died = true;
  for (uint64_t nth = 1; has_died; nth += EXHAUSTIVE_STEP) {
    const struct rd_fault fault = {
      .op = RD_FAULT_ANY, .nth = nth, .kind = RD_FAULT_EXIT,
      .status = CRASHED,
    };
    remove_store ();
    struct radio_store *store = open_failing (STORE, NULL);
    assert_ok (commit_cell (store, PATH, "a", "site", "x"));
    radio_store_close (store);
    pid_t child = fork ();
    assert_true (child >= 0);
    if (child == 0)
      _exit (commit_cell (open_failing (STORE, &fault), PATH, "b", "site",
                          "y") != RADIO_OK);
    int status;
    assert_int_equal (waitpid (child, &status, 0), child);
    assert_true (WIFEXITED (status));
    has_died = WEXITSTATUS (status) == CRASHED;
    assert_true (has_died || WEXITSTATUS (status) == 0);
    assert_ok (radio_store_open (STORE, NULL, &store));
    check_after (store, true);
    radio_store_close (store);
  }
}

static void
the_last_three_generations_are_kept (void **state)
{
  (void) state;
  struct radio_store *store = open_failing (NULL, NULL);
  struct radio_gc_result result;
  struct radio_table *old, *kept;
  RD_STRINGS_FREE struct radio_strings ids = { 0 };
  assert_ok (commit_cell (store, PATH, "a", "site", "1"));
  assert_ok (radio_table_open (store, PATH, &old));
  for (char c = '2'; c <= '5'; c++) {
    const char value[] = { c, '\0' };
    if (c == '4')
      assert_ok (radio_table_open (store, PATH, &kept));
    assert_ok (commit_cell (store, PATH, "a", "site", value));
  }
  assert_int_equal (count_generations (store), 5);
  assert_ok (radio_store_gc (store, true, &result));
  assert_int_equal (result.removed_count, 2);
  assert_int_equal (count_generations (store), 5);
  assert_ok (radio_store_gc (store, false, &result));
  assert_int_equal (result.removed_count, 2);
  assert_int_equal (count_generations (store), 3);
  assert_column (kept, "site", "3");
  assert_fails (radio_table_read_ids (old, &ids), RADIO_ERROR_NOT_FOUND,
                "was removed meanwhile; open the table again");
  assert_newest (store, PATH, "site", "5");
  radio_table_close (kept);
  radio_table_close (old);
  radio_store_close (store);
}

/* Requests since the last call. */
static uint64_t
count_requests (struct radio_store *store)
{
  static uint64_t nbefore;
  uint64_t n = rd_io_fault_count (store->io, RD_FAULT_ANY);
  uint64_t nmore = n - nbefore;
  nbefore = n;
  return nmore;
}

static void
set_hint (struct radio_store *store, const char *latest)
{
  char text[400];
  int n = snprintf (text, sizeof text, "{\"zarr_format\": 3, \"node_type\": "
                    "\"group\", \"attributes\": {\"radio\": {\"version\": "
                    "\"1.1\", \"kind\": \"table\"%s}}}", latest);
  assert_ok (rd_io_put (store->io, PATH "/zarr.json", text, (size_t) n,
                        RD_PUT_REPLACE));
}

static void
opening_takes_few_requests_and_a_column_one (void **state)
{
  (void) state;
  static const int64_t ages[] = { 1, 2 };
  struct radio_store *store = open_failing (NULL, NULL);
  struct radio_table_edit *edit;
  struct radio_table *table;
  assert_ok (radio_table_edit_new (store, PATH, &edit));
  assert_ok (add_rows (edit, "a,b"));
  assert_ok (set_integers (edit, "a,b", "age", ages));
  assert_ok (set_text (edit, "a,b", "site", "x,y"));
  assert_ok (radio_table_edit_commit (edit, NULL));
  radio_table_edit_free (edit);
  count_requests (store);
  assert_ok (radio_table_open (store, PATH, &table));
  /* The list of heads, and the table's document, which repeats the
   * generation's.  Where that takes no trip, it is looked up whether this is
   * there. */
  assert_int_equal (count_requests (store), 3);
  assert_column (table, "age", "1,2");
  assert_int_equal (count_requests (store), 1);
  assert_column (table, "site", "x,y");
  assert_int_equal (count_requests (store), 2);
  assert_column (table, NULL, "a,b");
  assert_int_equal (count_requests (store), 1);
  radio_table_close (table);
  /* With a hint that is old the head's and the generation's, too. */
  set_hint (store, "");
  count_requests (store);
  assert_ok (radio_table_open (store, PATH, &table));
  assert_int_equal (count_requests (store), 4);
  radio_table_close (table);
  radio_store_close (store);
}

static void
without_lists_the_newest_is_found_upwards_from_the_hint (void **state)
{
  (void) state;
  const struct rd_fault no_lists = {
    .op = RD_FAULT_LIST, .key = "heads", .kind = RD_FAULT_FAIL,
    .status = RADIO_ERROR_UNSUPPORTED,
  };
  struct radio_store *store = open_failing (NULL, &no_lists);
  struct rd_head heads[4];
  char latest[80];
  for (int i = 1; i <= 3; i++) {
    const char value[] = { (char) ('0' + i), '\0' };
    assert_ok (commit_cell (store, PATH, "a", "site", value));
    assert_ok (rd_head_read (store, PATH, (uint64_t) i, &heads[i]));
    assert_string_equal (heads[i].follows,
                         i > 1 ? heads[i - 1].generation : "");
  }
  for (int i = 3; i >= 1; i--) {
    assert_newest (store, PATH, "site", "3");
    snprintf (latest, sizeof latest, ", \"latest\": {\"head\": %d, \"table\": "
              "\"%s\"}", i, heads[i].generation);
    set_hint (store, latest);
  }
  assert_newest (store, PATH, "site", "3");
  set_hint (store, "");
  assert_newest (store, PATH, "site", "3");
  radio_store_close (store);
}

/* Where locks do not exclude others, a writer that put its head below others'
 * finds out, and its edit is merged with theirs. */
static void
a_head_that_others_do_not_follow_is_merged_again (void **state)
{
  (void) state;
  /* The list at the beginning of the last commit: it goes by the hint. */
  const struct rd_fault no_list = {
    .op = RD_FAULT_LIST, .key = "heads", .nth = 4, .kind = RD_FAULT_FAIL,
    .status = RADIO_ERROR_UNSUPPORTED,
  };
  struct radio_store *store = open_failing (NULL, &no_list);
  struct radio_table_edit *edit;
  struct radio_table_result result;
  struct rd_head first;
  char latest[80];
  assert_ok (commit_cell (store, PATH, "a", "site", "1"));
  assert_ok (commit_cell (store, PATH, "b", "site", "2"));
  assert_ok (commit_cell (store, PATH, "c", "site", "3"));
  assert_ok (rd_head_read (store, PATH, 1, &first));
  snprintf (latest, sizeof latest, ", \"latest\": {\"head\": 1, \"table\": "
            "\"%s\"}", first.generation);
  set_hint (store, latest);
  assert_ok (store->io->ops->remove (store->io, PATH
                                     "/heads/0000000002/zarr.json"));
  store->io->grace_s = 3600;
  assert_ok (radio_table_edit_new (store, PATH, &edit));
  assert_ok (add_rows (edit, "d"));
  assert_ok (set_text (edit, "a,d", "site", "9,4"));
  assert_ok (radio_table_edit_commit (edit, &result));
  assert_int_equal (result.merge_count, 1);
  assert_int_equal (result.head, 4);
  radio_table_edit_free (edit);
  assert_newest (store, PATH, NULL, "a,b,c,d");
  assert_newest (store, PATH, "site", "9,2,3,4");
  /* Its own generation of before is young. */
  struct radio_gc_result gc;
  assert_ok (radio_store_gc (store, false, &gc));
  assert_int_equal (gc.removed_count, 0);
  assert_true (gc.busy_count > 0);
  radio_store_close (store);
}

static struct radio_store *collected_store;
static const struct rd_io_ops *collected_ops;
static unsigned nlists;

/* Removes the generation of head 2 when its writer lists heads after its put,
 * as a collector does to which that writer seemed dead. */
static enum radio_status
list_collected (struct rd_io *io, const char *prefix, bool recursive,
                rd_io_list_fn *callback, void *user_data)
{
  if (strcmp (prefix, PATH "/heads") == 0 && ++nlists == 2) {
    char path[RD_KEY_NBYTES];
    struct rd_head head;
    assert_ok (rd_head_read (collected_store, PATH, 2, &head));
    snprintf (path, sizeof path, PATH "/%s", head.generation);
    assert_ok (collected_ops->remove_tree (io, path));
  }
  return collected_ops->list (io, prefix, recursive, callback, user_data);
}

/* Its own head, which is void, does not stop a writer, as another's would. */
static void
a_writer_whose_generation_was_collected_begins_again (void **state)
{
  (void) state;
  struct radio_store *store = collected_store = open_failing (NULL, NULL);
  struct radio_table_edit *edit;
  struct radio_table_result result;
  assert_ok (commit_cell (store, PATH, "a", "site", "x"));
  collected_ops = store->io->ops;
  struct rd_io_ops ops = *collected_ops;
  ops.list = list_collected;
  nlists = 0;
  store->io->ops = &ops;
  store->io->grace_s = 3600;
  assert_ok (radio_table_edit_new (store, PATH, &edit));
  assert_ok (add_rows (edit, "b"));
  assert_ok (radio_table_edit_commit (edit, &result));
  radio_table_edit_free (edit);
  assert_int_equal (result.merge_count, 1);
  assert_int_equal (result.head, 3);
  assert_newest (store, PATH, NULL, "a,b");
  store->io->ops = collected_ops;
  radio_store_close (store);
}

/* As a writer leaves one that dies before its first head. */
static void
a_table_that_never_had_a_head_is_collected (void **state)
{
  (void) state;
  for (int i = 0; i < 2; i++) {
    struct radio_store *store = open_failing (NULL, NULL);
    struct rd_io_lock *lock;
    struct radio_gc_result gc;
    enum radio_node node;
    assert_ok (commit_cell (store, RADIO_TABLE_SUBJECTS, "a", "site", "1"));
    assert_ok (rd_heads_make (store, PATH));
    /* Its writer may be alive. */
    if (i == 0)
      assert_ok (store->io->ops->lock (store->io, PATH, true, &lock));
    else
      store->io->grace_s = 3600;
    assert_ok (radio_store_gc (store, false, &gc));
    assert_int_equal (gc.removed_count, 0);
    assert_int_equal (gc.busy_count, 1);
    if (i == 0)
      rd_io_unlock (lock);
    store->io->grace_s = 0;
    assert_ok (radio_store_gc (store, true, &gc));
    assert_int_equal (gc.removed_count, 1);
    assert_ok (radio_store_node (store, PATH, &node));
    assert_ok (radio_store_gc (store, false, &gc));
    assert_int_equal (gc.removed_count, 1);
    assert_fails (radio_store_node (store, PATH, &node),
                  RADIO_ERROR_NOT_FOUND, "");
    assert_ok (radio_store_gc (store, false, &gc));
    assert_int_equal (gc.removed_count + gc.busy_count, 0);
    assert_ok (commit_cell (store, PATH, "a", "site", "1"));
    assert_newest (store, PATH, "site", "1");
    radio_store_close (store);
  }
}

/* As while another program copies the store, with the table's document before
 * its heads. */
static void
a_table_whose_heads_are_not_yet_copied_is_kept (void **state)
{
  (void) state;
  struct radio_store *store = open_failing (NULL, NULL);
  struct rd_io *io = store->io;
  struct radio_gc_result gc;
  enum radio_node node;
  for (char c = '1'; c <= '5'; c++)
    assert_ok (commit_cell (store, PATH, "a", "site", (char[]) { c, '\0' }));
  for (int has_some = 1; has_some >= 0; has_some--) {
    for (int i = has_some ? 4 : 1; i <= 5; i++) {
      char key[64];
      snprintf (key, sizeof key, PATH "/heads/000000000%d", i);
      assert_ok (io->ops->remove_tree (io, key));
    }
    assert_ok (radio_store_gc (store, false, &gc));
    assert_int_equal (gc.removed_count, 0);
    assert_int_equal (gc.busy_count, 1);
    assert_int_equal (count_generations (store), 5);
    assert_ok (radio_store_node (store, PATH, &node));
  }
  radio_store_close (store);
}

/* Reads a head's document; the caller frees it. */
static struct json_object *
read_head_document (struct radio_store *store, int number, size_t *nbytes)
{
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  struct json_object *document;
  char key[64];
  snprintf (key, sizeof key, PATH "/heads/000000000%d/zarr.json", number);
  assert_ok (rd_io_read_all (store->io, key, 1 << 20, &text));
  assert_ok (rd_json_parse ((char *) text.data, text.nbytes, key,
                            &document));
  *nbytes = text.nbytes;
  return document;
}

/* Heads stay for ever: they repeat only documents that are there. */
static void
a_collector_shortens_the_heads_below_those_that_it_keeps (void **state)
{
  (void) state;
  struct radio_store *store = open_failing (NULL, NULL);
  struct radio_gc_result gc;
  struct rd_head heads[6], head;
  for (int i = 1; i <= 5; i++) {
    const char value[] = { (char) ('0' + i), '\0' };
    assert_ok (commit_cell (store, PATH, "a", "site", value));
    assert_ok (rd_head_read (store, PATH, (uint64_t) i, &heads[i]));
  }
  for (int is_done = 0; is_done < 2; is_done++) {
    assert_ok (radio_store_gc (store, !is_done, &gc));
    assert_int_equal (gc.removed_count, 2);
    for (int i = 1; i <= 5; i++) {
      size_t nbytes;
      struct json_object *document = read_head_document (store, i, &nbytes);
      struct json_object *repeated = rd_json_member (
        rd_json_member (rd_json_member (document, "attributes"), "radio"),
        "document");
      assert_int_equal (repeated != NULL, !is_done || i > 2);
      assert_int_equal (nbytes > 1024, !is_done || i > 2);
      json_object_put (document);
      assert_ok (rd_head_read (store, PATH, (uint64_t) i, &head));
      assert_string_equal (head.generation, heads[i].generation);
      assert_string_equal (head.follows, heads[i].follows);
    }
  }
  assert_newest (store, PATH, "site", "5");
  radio_store_close (store);
}

/* As one that was killed between the two. */
static void
heads_are_shortened_after_a_collector_that_only_removed (void **state)
{
  (void) state;
  struct radio_store *store = open_failing (NULL, NULL);
  struct radio_gc_result gc;
  for (char c = '1'; c <= '5'; c++)
    assert_ok (commit_cell (store, PATH, "a", "site", (char[]) { c, '\0' }));
  for (uint64_t i = 1; i <= 2; i++) {
    char path[RD_KEY_NBYTES];
    struct rd_head head;
    assert_ok (rd_head_read (store, PATH, i, &head));
    snprintf (path, sizeof path, PATH "/%s", head.generation);
    assert_ok (store->io->ops->remove_tree (store->io, path));
  }
  for (int is_done = 0; is_done < 2; is_done++) {
    assert_ok (radio_store_gc (store, !is_done, &gc));
    assert_int_equal (gc.removed_count + gc.busy_count, 0);
    for (int i = 1; i <= 5; i++) {
      size_t nbytes;
      json_object_put (read_head_document (store, i, &nbytes));
      assert_int_equal (nbytes > 1024, !is_done || i > 2);
    }
  }
  assert_newest (store, PATH, "site", "5");
  radio_store_close (store);
}

static enum radio_status
count_entry (const struct radio_entry *entry, void *user_data)
{
  unsigned *n = user_data;
  (void) entry;
  ++*n;
  return RADIO_OK;
}

static enum radio_status
check_table (const struct radio_table_entry *entry, void *user_data)
{
  unsigned *n = user_data;
  bool is_subjects = strcmp (entry->path, RADIO_TABLE_SUBJECTS) == 0;
  assert_true (is_subjects || strcmp (entry->path, PATH) == 0);
  if (is_subjects)
    assert_null (entry->collection);
  else
    assert_string_equal (entry->collection, "ct");
  ++*n;
  return RADIO_OK;
}

static void
tables_are_no_collection (void **state)
{
  (void) state;
  struct radio_store *store = open_failing (NULL, NULL);
  unsigned n = 0;
  assert_ok (commit_cell (store, PATH, "a", "site", "1"));
  assert_ok (commit_cell (store, RADIO_TABLE_SUBJECTS, "a", "site", "1"));
  assert_ok (radio_store_list (store, NULL, count_entry, &n));
  assert_int_equal (n, 0);
  assert_fails (radio_store_list (store, "tables", count_entry, &n),
                RADIO_ERROR_NOT_FOUND, "no such collection");
  assert_ok (radio_table_list (store, check_table, &n));
  assert_int_equal (n, 2);
  struct radio_phantom_options options = { .shape = { 2, 3, 4 } };
  assert_fails (radio_phantom (store, "tables/a", &options),
                RADIO_ERROR_ARGUMENT, "the store's tables, not a collection");
  radio_store_close (store);
  store = open_failing (NULL, NULL);
  assert_fails (radio_phantom (store, "tables/a", &options),
                RADIO_ERROR_ARGUMENT, "choose another one");
  radio_store_close (store);
}

static void
a_collection_in_the_place_of_tables_is_kept (void **state)
{
  (void) state;
  static const char group[]
    = "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {}}";
  struct radio_store *store = open_failing (NULL, NULL);
  unsigned n = 0;
  assert_ok (rd_io_put (store->io, "tables/zarr.json", group,
                        sizeof group - 1, RD_PUT_IF_ABSENT));
  struct radio_phantom_options options = { .shape = { 2, 3, 4 } };
  assert_ok (radio_phantom (store, "tables/a", &options));
  assert_fails (commit_cell (store, PATH, "a", "site", "1"),
                RADIO_ERROR_EXISTS, "tables: a collection of volumes");
  assert_ok (radio_store_gc (store, false, NULL));
  assert_ok (radio_store_list (store, "tables", count_entry, &n));
  assert_int_equal (n, 1);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (edits_of_two_writers_are_merged),
    cmocka_unit_test (a_taken_number_is_merged_with_what_took_it),
    cmocka_unit_test (a_writer_that_dies_at_any_step_leaves_one_of_both),
    cmocka_unit_test (a_writer_that_fails_at_any_step_leaves_one_of_both),
    cmocka_unit_test (the_last_three_generations_are_kept),
    cmocka_unit_test (opening_takes_few_requests_and_a_column_one),
    cmocka_unit_test (without_lists_the_newest_is_found_upwards_from_the_hint),
    cmocka_unit_test (a_head_that_others_do_not_follow_is_merged_again),
    cmocka_unit_test (a_writer_whose_generation_was_collected_begins_again),
    cmocka_unit_test (a_table_that_never_had_a_head_is_collected),
    cmocka_unit_test (a_table_whose_heads_are_not_yet_copied_is_kept),
    cmocka_unit_test (
      a_collector_shortens_the_heads_below_those_that_it_keeps),
    cmocka_unit_test (heads_are_shortened_after_a_collector_that_only_removed),
    cmocka_unit_test (tables_are_no_collection),
    cmocka_unit_test (a_collection_in_the_place_of_tables_is_kept),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
