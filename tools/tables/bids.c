/* SPDX-License-Identifier: MIT */
/* The tables of a BIDS data set.  All files of sessions, or of scans, are
 * joined into one text table, so that the types of their columns are inferred
 * over all; a collection gets the rows that its volumes have there. */
#include <config.h>

#include <string.h>
#include <sys/stat.h>

#include "src/base/text.h"
#include "tools/names.h"
#include "tools/tables/bids.h"
#include "tools/text.h"

/*------------------------------------------------------------------------
 * Finding
 *----------------------------------------------------------------------*/

/* The bytes of the first n of a path up to the last '/' of them, with it; 0 if
 * they have none. */
static size_t
folder_nbytes (const char *path, size_t n)
{
  while (n > 0 && path[n - 1] != '/')
    n--;
  return n;
}

static enum rd_bids_kind
kind_of (const char *name)
{
  const char *base = rd_base_name (name);
  if (rd_ends_with (base, "_sessions.tsv")
      || strcmp (base, "sessions.tsv") == 0)
    return RD_BIDS_SESSIONS;
  if (rd_ends_with (base, "_scans.tsv") || strcmp (base, "scans.tsv") == 0)
    return RD_BIDS_SCANS;
  return RD_BIDS_SUBJECTS;
}

static bool
add_file (struct rd_bids *bids, const char *name, bool is_given)
{
  if (bids->n == bids->capacity) {
    size_t capacity = bids->capacity ? 2 * bids->capacity : 64;
    struct rd_bids_file *files = reallocarray (bids->files, capacity,
                                               sizeof *files);
    if (files == NULL)
      return rd_error_memory (), false;
    bids->files = files;
    bids->capacity = capacity;
  }
  char *copy = strdup (name);
  if (copy == NULL)
    return rd_error_memory (), false;
  bids->files[bids->n++]
    = (struct rd_bids_file) { copy, kind_of (name), is_given };
  return true;
}

bool
rd_bids_add (struct rd_bids *bids, const char *name)
{
  for (size_t i = 0; i < bids->n; i++)
    if (rd_is_same_file (bids->files[i].name, name))
      return true;
  return add_file (bids, name, true);
}

/* Adds FOLDER/STEM_WHAT, or FOLDER/WHAT without a stem, if it exists and was
 * not given.  A file that was found before is added again. */
static bool
add_if_there (struct rd_bids *bids, const char *folder, size_t nfolder,
              const char *stem, const char *what)
{
  struct stat st;
  RD_FREE char *name = rd_format ("%.*s%s%s%s", (int) nfolder, folder, stem,
                                  *stem ? "_" : "", what);
  if (name == NULL)
    return false;
  if (stat (name, &st) != 0 || !S_ISREG (st.st_mode))
    return true;
  for (size_t i = 0; i < bids->n && bids->files[i].is_given; i++)
    if (rd_is_same_file (bids->files[i].name, name))
      return true;
  return add_file (bids, name, false);
}

/* Adds the tables of a folder, the first n bytes of a path, which ends in '/'
 * or is empty, by its name. */
static bool
find_in_folder (struct rd_bids *bids, const char *path, size_t n)
{
  size_t above = folder_nbytes (path, n - 1);
  RD_FREE char *name = strndup (path + above, n - 1 - above);
  if (name == NULL)
    return rd_error_memory (), false;
  if (strncmp (name, "ses-", 4) == 0 && above > 0) {
    size_t subject = folder_nbytes (path, above - 1);
    RD_FREE char *stem = rd_format ("%.*s_%s", (int) (above - 1 - subject),
                                    path + subject, name);
    return stem && add_if_there (bids, path, n, stem, "scans.tsv");
  }
  if (strncmp (name, "sub-", 4) != 0)
    return true;
  return add_if_there (bids, path, n, name, "scans.tsv")
         && add_if_there (bids, path, n, name, "sessions.tsv")
         && add_if_there (bids, path, above, "", "participants.tsv");
}

bool
rd_bids_find (struct rd_bids *bids, const char *image)
{
  size_t n = folder_nbytes (image, strlen (image));
  if (bids->last_folder && strlen (bids->last_folder) == n
      && memcmp (bids->last_folder, image, n) == 0)
    return true;
  free (bids->last_folder);
  bids->last_folder = strndup (image, n);
  if (bids->last_folder == NULL)
    return rd_error_memory (), false;
  for (; n > 1; n = folder_nbytes (image, n - 1))
    if (!find_in_folder (bids, image, n))
      return false;
  return true;
}

static int
by_name (const void *a, const void *b)
{
  return strcmp (((const struct rd_bids_file *) a)->name,
                 ((const struct rd_bids_file *) b)->name);
}

/* Drops duplicates. */
static void
make_unique (struct rd_bids *bids)
{
  size_t n = 0;
  if (bids->n > 1)
    qsort (bids->files, bids->n, sizeof *bids->files, by_name);
  for (size_t i = 0; i < bids->n; i++)
    if (n == 0 || by_name (&bids->files[n - 1], &bids->files[i]) != 0)
      bids->files[n++] = bids->files[i];
    else
      free (bids->files[i].name);
  bids->n = n;
}

void
rd_bids_clear (struct rd_bids *bids)
{
  for (size_t i = 0; i < bids->n; i++)
    free (bids->files[i].name);
  free (bids->files);
  free (bids->images);
  free (bids->last_folder);
}

/*------------------------------------------------------------------------
 * Joining files of one kind
 *----------------------------------------------------------------------*/

/* A file, in memory. */
struct source {
  const char *file;
  bool is_given;
  struct radio_csv *csv;
  size_t nrows, nfields;
  struct radio_strings *fields;       /* its columns as text */
  size_t *columns;            /* of the joined table, of each field; NO_COLUMN:
                                 the key, or left out */
};
#define NO_COLUMN SIZE_MAX

/* A line of a file, and what finds it: "SUBJECT SESSION", or the name of an
 * image without its folder. */
struct line {
  char *key;
  char *image;                /* the file that a line of scans describes */
  const struct source *source;
  size_t row;
  bool is_joined;             /* to a volume */
};

struct joined {
  enum rd_bids_kind kind;
  struct source *sources;
  size_t nsources;
  char **names;               /* of columns */
  size_t nnames;
  struct line *lines;         /* sorted by keys */
  size_t nlines;
  const struct rd_bids_image *images; /* sorted by ids */
  size_t nimages;
  char *sidecar;              /* a file of JSON; NULL: none */
  struct radio_csv_type *types;       /* of all columns */
};

static void
clear_line (struct line *line)
{
  free (line->key);
  free (line->image);
}

static void
clear_joined (struct joined *joined)
{
  for (size_t i = 0; i < joined->nsources; i++) {
    struct source *source = &joined->sources[i];
    for (size_t k = 0; k < source->nfields; k++)
      radio_strings_free (&source->fields[k]);
    free (source->fields);
    free (source->columns);
    radio_csv_close (source->csv);
  }
  for (size_t i = 0; i < joined->nnames; i++)
    free (joined->names[i]);
  for (size_t i = 0; i < joined->nlines; i++)
    clear_line (&joined->lines[i]);
  free (joined->sources);
  free (joined->names);
  free (joined->lines);
  free (joined->sidecar);
  free (joined->types);
}

/* The column of ids of a kind of tables, and what joins them. */
static const char *
key_name (enum rd_bids_kind kind)
{
  return kind == RD_BIDS_SESSIONS ? "session_id" : "filename";
}

/* Finds or adds a column of the joined table; NO_COLUMN without memory, after
 * an error. */
static size_t
add_name (struct joined *joined, const char *name)
{
  for (size_t i = 0; i < joined->nnames; i++)
    if (strcmp (joined->names[i], name) == 0)
      return i;
  char **names = reallocarray (joined->names, joined->nnames + 1,
                               sizeof *names);
  if (names)
    joined->names = names;
  char *copy = names ? strdup (name) : NULL;
  if (copy == NULL)
    return rd_error_memory (), NO_COLUMN;
  joined->names[joined->nnames] = copy;
  return joined->nnames++;
}

/* The subject of a file's name, "sub-01" of "sub-01_ses-2_scans.tsv". */
static char *
file_subject (const char *file)
{
  const char *base = rd_base_name (file);
  return rd_format ("%.*s", (int) strcspn (base, "_"), base);
}

/* The text with a prefix, if it does not have it. */
static char *
with_prefix (const char *prefix, const char *text)
{
  bool has = strncmp (text, prefix, strlen (prefix)) == 0;
  return rd_format ("%s%s", has ? "" : prefix, text);
}

/* Fills a line's key and image, which clear_line frees in any case.  False
 * after an error. */
static bool
fill_line (enum rd_bids_kind kind, size_t key, size_t subject,
           struct line *line)
{
  const struct source *source = line->source;
  RD_FREE char *cell = rd_string_copy (&source->fields[key], line->row);
  if (cell == NULL)
    return false;
  if (*cell == '\0') {
    rd_error ("%s: row %zu has no %s", source->file, line->row + 1,
              key_name (kind));
    return false;
  }
  if (kind == RD_BIDS_SCANS) {
    size_t n = folder_nbytes (source->file, strlen (source->file));
    line->key = rd_format ("%s", rd_base_name (cell));
    line->image = rd_format ("%.*s%s", (int) n, source->file, cell);
    return line->key && line->image;
  }
  RD_FREE char *person = subject == NO_COLUMN
                         ? file_subject (source->file)
                         : rd_string_copy (&source->fields[subject],
                                           line->row);
  RD_FREE char *name = person ? with_prefix ("sub-", person) : NULL;
  RD_FREE char *session = with_prefix ("ses-", cell);
  line->key = name && session ? rd_format ("%s %s", name, session) : NULL;
  return line->key != NULL;
}

/* Reads a file and adds its columns and lines. */
static int
add_source (struct joined *joined, const struct rd_bids_file *found)
{
  const char *file = found->name;
  static const struct radio_csv_options options = { .sidecar_file = "" };
  struct source *source = &joined->sources[joined->nsources++];
  struct radio_csv_info info;
  size_t key, subject = NO_COLUMN;
  *source = (struct source) { .file = file, .is_given = found->is_given };
  if (radio_csv_open (file, &options, &source->csv) != RADIO_OK
      || radio_csv_find_column (source->csv, key_name (joined->kind), &key)
         != RADIO_OK)
    return rd_error_library (file);
  if (joined->kind == RD_BIDS_SESSIONS
      && radio_csv_find_column (source->csv, "participant_id", &subject)
         != RADIO_OK)
    subject = NO_COLUMN;
  radio_csv_get_info (source->csv, &info);
  source->nrows = (size_t) info.row_count;
  source->columns = calloc (info.column_count + 1, sizeof *source->columns);
  source->fields = calloc (info.column_count + 1, sizeof *source->fields);
  if (source->columns == NULL || source->fields == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < info.column_count; i++) {
    struct radio_csv_column column;
    if (radio_csv_get_column (source->csv, i, &column) != RADIO_OK
        || radio_csv_read_text (source->csv, i, &source->fields[i])
           != RADIO_OK)
      return rd_error_library (file);
    source->nfields = i + 1;
    source->columns[i] = NO_COLUMN;
    bool is_left_out = i == key || i == subject
                       || radio_index_is_derived (column.name);
    if (!is_left_out && radio_column_name_check (column.name) != RADIO_OK)
      return rd_error_library (file);
    if (!is_left_out) {
      source->columns[i] = add_name (joined, column.name);
      if (source->columns[i] == NO_COLUMN)
        return RD_EXIT_FAILED;
    } else if (i != key && i != subject) {
      RD_FREE char *text = rd_format (
        "%s: column '%s' is derived from volumes, and left out", file,
        column.name);
      rd_warn (text ? text : file);
    }
  }
  struct line *lines = reallocarray (joined->lines, joined->nlines
                                     + source->nrows + 1, sizeof *lines);
  if (lines == NULL)
    return rd_error_memory ();
  joined->lines = lines;
  for (size_t row = 0; row < source->nrows; row++) {
    struct line *line = &lines[joined->nlines++];
    *line = (struct line) { .source = source, .row = row };
    if (!fill_line (joined->kind, key, subject, line))
      return RD_EXIT_FAILED;
  }
  return RD_EXIT_OK;
}

/* Lines of one key are ordered by their images, if both have one. */
static int
by_key (const void *a, const void *b)
{
  const struct line *x = a, *y = b;
  int order = strcmp (x->key, y->key);
  return order || !x->image || !y->image ? order : strcmp (x->image, y->image);
}

/* Takes a file as the sidecar if it is there; name is freed or kept.  False
 * without a name. */
static bool
take_sidecar (struct joined *joined, char *name)
{
  struct stat st;
  if (name == NULL)
    return false;
  if (stat (name, &st) == 0)
    joined->sidecar = name;
  else
    free (name);
  return true;
}

/* Finds the sidecar of all files: sessions.json or scans.json above the
 * subjects' folders, else that of the first file that has one. */
static bool
find_sidecar (struct joined *joined)
{
  const char *what = joined->kind == RD_BIDS_SESSIONS ? "sessions.json"
                                                      : "scans.json";
  const char *first = joined->sources[0].file;
  size_t n = folder_nbytes (first, strlen (first));
  bool ok = take_sidecar (joined, rd_format ("%.*s%s", (int) n, first, what));
  for (int above = 1; ok && !joined->sidecar && n > 0 && above < 3; above++) {
    n = folder_nbytes (first, n - 1);
    ok = take_sidecar (joined, rd_format ("%.*s%s", (int) n, first, what));
  }
  for (size_t i = 0; ok && !joined->sidecar && i < joined->nsources; i++) {
    const char *file = joined->sources[i].file;
    ok = take_sidecar (joined, rd_format ("%.*s.json",
                                          (int) (strlen (file) - 4), file));
  }
  return ok;
}

/* The cell of a column in a line; empty: missing. */
static void
write_cell (FILE *out, const struct line *line, size_t column)
{
  const struct source *source = line->source;
  for (size_t i = 0; i < source->nfields; i++)
    if (source->columns[i] == column) {
      const struct radio_strings *text = &source->fields[i];
      int64_t start = text->offsets[line->row];
      rd_import_write_cell (out, text->bytes + start,
                            (size_t) (text->offsets[line->row + 1] - start));
    }
}

/* Lines as text: the key's name and those of the columns, and for each line an
 * id (NULL: its key) and its cells.  Opened with options. */
static int
make_csv (const struct joined *joined, const struct line *const *lines,
          char *const *ids, size_t n,
          const struct radio_csv_options *options, struct radio_csv **csv)
{
  RD_FREE char *text = NULL;
  size_t nbytes = 0;
  FILE *out = open_memstream (&text, &nbytes);
  const char *key = key_name (joined->kind);
  if (out == NULL)
    return rd_error_memory ();
  rd_import_write_cell (out, key, strlen (key));
  for (size_t i = 0; i < joined->nnames; i++) {
    fputc ('\t', out);
    rd_import_write_cell (out, joined->names[i], strlen (joined->names[i]));
  }
  for (size_t i = 0; i < n; i++) {
    const char *id = ids ? ids[i] : lines[i]->key;
    fputc ('\n', out);
    rd_import_write_cell (out, id, strlen (id));
    for (size_t k = 0; k < joined->nnames; k++) {
      fputc ('\t', out);
      write_cell (out, lines[i], k);
    }
  }
  fputc ('\n', out);
  if (fclose (out) != 0)
    return rd_error_memory ();
  return radio_csv_parse (text, nbytes, joined->sources[0].file, options, csv)
         == RADIO_OK ? RD_EXIT_OK : rd_error_library (NULL);
}

/* Infers the types of all columns. */
static int
find_types (struct joined *joined, const struct rd_import *import)
{
  RD_FREE struct radio_csv_type *given = calloc (import->ntypes + 1,
                                                 sizeof *given);
  RD_FREE const struct line **lines = calloc (joined->nlines + 1,
                                              sizeof *lines);
  RD_CLOSE_CSV struct radio_csv *csv = NULL;
  size_t ngiven = 0;
  joined->types = calloc (joined->nnames + 1, sizeof *joined->types);
  if (given == NULL || lines == NULL || joined->types == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < import->ntypes; i++)
    for (size_t k = 0; k < joined->nnames; k++)
      if (strcmp (joined->names[k], import->types[i].column) == 0)
        given[ngiven++] = import->types[i];
  for (size_t i = 0; i < joined->nlines; i++)
    lines[i] = &joined->lines[i];
  const struct radio_csv_options options = {
    .separator = '\t', .types = given, .type_count = ngiven,
    .sidecar_file = joined->sidecar ? joined->sidecar : "",
  };
  int failed = make_csv (joined, lines, NULL, joined->nlines, &options, &csv);
  for (size_t i = 0; i < joined->nnames && !failed; i++) {
    struct radio_csv_column column;
    if (radio_csv_get_column (csv, i + 1, &column) != RADIO_OK)
      return rd_error_library (NULL);
    joined->types[i] = (struct radio_csv_type) { joined->names[i],
                                                 column.type };
  }
  return failed;
}

/* Reads all files of a kind, or those that were given. */
static int
read_joined (struct joined *joined, const struct rd_bids *bids,
             const struct rd_import *import, bool only_given)
{
  joined->sources = calloc (bids->n + 1, sizeof *joined->sources);
  if (joined->sources == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < bids->n; i++) {
    const struct rd_bids_file *file = &bids->files[i];
    if (file->kind != joined->kind || (only_given && !file->is_given))
      continue;
    int failed = add_source (joined, file);
    if (failed)
      return failed;
  }
  if (joined->nlines == 0)
    return RD_EXIT_OK;
  qsort (joined->lines, joined->nlines, sizeof *joined->lines, by_key);
  for (size_t i = 1; i < joined->nlines; i++)
    if (by_key (&joined->lines[i - 1], &joined->lines[i]) == 0)
      return rd_error ("%s: '%s' is there twice, and in %s",
                       joined->lines[i].source->file, joined->lines[i].key,
                       joined->lines[i - 1].source->file);
  return find_sidecar (joined) ? find_types (joined, import)
                               : RD_EXIT_FAILED;
}

/*------------------------------------------------------------------------
 * Into tables
 *----------------------------------------------------------------------*/

/* A table's columns that say which line a volume has. */
struct volumes {
  struct radio_strings ids, subjects, sessions;       /* the last two only for
                                                         lines of sessions */
};

static void
clear_volumes (struct volumes *volumes)
{
  radio_strings_free (&volumes->ids);
  radio_strings_free (&volumes->subjects);
  radio_strings_free (&volumes->sessions);
}

static int
read_volumes (struct radio_store *store, const char *path,
              enum rd_bids_kind kind, struct volumes *volumes)
{
  RD_CLOSE_TABLE struct radio_table *table = NULL;
  bool is_sessions = kind == RD_BIDS_SESSIONS;
  enum radio_status status = radio_table_open (store, path, &table);
  if (status == RADIO_OK)
    status = radio_table_read_ids (table, &volumes->ids);
  if (status == RADIO_OK && is_sessions)
    status = rd_table_read_text (table, "subject", &volumes->subjects);
  if (status == RADIO_OK && is_sessions)
    status = rd_table_read_text (table, "session", &volumes->sessions);
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (path);
}

/* The first line of a key, or NULL. */
static const struct line *
find_key (const struct joined *joined, const char *key)
{
  const struct line wanted = { .key = (char *) key };
  const struct line *line = bsearch (&wanted, joined->lines, joined->nlines,
                                     sizeof *line, by_key);
  while (line && line > joined->lines && by_key (line - 1, &wanted) == 0)
    line--;
  return line;
}

/* The line of scans that names an image's file; else one that names a missing
 * file of the same name, as if the table is in another place. */
static const struct line *
find_scan (const struct joined *joined, const struct rd_bids_image *image)
{
  const struct line *line = find_key (joined, rd_base_name (image->file));
  const struct line *end = joined->lines + joined->nlines, *other = NULL;
  const char *key = line ? line->key : NULL;
  struct stat st;
  for (; line && line < end && strcmp (line->key, key) == 0; line++) {
    if (rd_is_same_file (line->image, image->file))
      return line;
    if (other == NULL && stat (line->image, &st) != 0)
      other = line;
  }
  return other;
}

static int
by_image_id (const void *a, const void *b)
{
  return strcmp (((const struct rd_bids_image *) a)->id,
                 ((const struct rd_bids_image *) b)->id);
}

/* Finds the line of a volume; NULL: it has none.  False without memory, after
 * an error. */
static bool
find_line (const struct joined *joined, const struct volumes *volumes,
           size_t row, const struct line **found)
{
  *found = NULL;
  if (joined->kind == RD_BIDS_SCANS) {
    RD_FREE char *id = rd_string_copy (&volumes->ids, row);
    const struct rd_bids_image wanted = { .id = id };
    const struct rd_bids_image *image
      = id ? bsearch (&wanted, joined->images, joined->nimages, sizeof wanted,
                      by_image_id) : NULL;
    if (image)
      *found = find_scan (joined, image);
    return id != NULL;
  }
  /* As the keys of lines: neither needs to have "sub-". */
  RD_FREE char *subject = rd_string_copy (&volumes->subjects, row);
  RD_FREE char *name = subject ? with_prefix ("sub-", subject) : NULL;
  RD_FREE char *session = rd_string_copy (&volumes->sessions, row);
  RD_FREE char *key = name && session ? rd_format ("%s %s", name, session)
                                      : NULL;
  if (key)
    *found = find_key (joined, key);
  return key != NULL;
}

/* Sets the cells of the volumes of a collection that have a line, of a file
 * that was given, or found. */
static int
join_collection (const struct joined *joined, struct radio_store *store,
                 const char *path, const char *collection, bool is_given,
                 const struct rd_import *import, bool quiet)
{
  RD_CLEANUP (clear_volumes) struct volumes volumes = { 0 };
  int failed = read_volumes (store, path, joined->kind, &volumes);
  if (failed)
    return failed;
  size_t nrows = (size_t) volumes.ids.n, n = 0;
  RD_FREE const struct line **lines = calloc (nrows + 1, sizeof *lines);
  RD_FREE char **ids = calloc (nrows + 1, sizeof *ids);
  if (lines == NULL || ids == NULL)
    return rd_error_memory ();
  for (size_t row = 0; row < nrows && !failed; row++) {
    if (!find_line (joined, &volumes, row, &lines[n]))
      failed = RD_EXIT_FAILED;
    else if (lines[n] && lines[n]->source->is_given == is_given) {
      joined->lines[lines[n] - joined->lines].is_joined = true;
      ids[n] = rd_string_copy (&volumes.ids, row);
      failed = ids[n] ? RD_EXIT_OK : RD_EXIT_FAILED;
      n += !failed;
    }
  }
  const struct radio_csv_options options = {
    .separator = '\t', .types = joined->types, .type_count = joined->nnames,
    .sidecar_file = joined->sidecar ? joined->sidecar : "",
  };
  const struct rd_import_how how = {
    .import = import, .quiet = quiet, .fills = !is_given,
  };
  RD_CLOSE_CSV struct radio_csv *csv = NULL;
  if (!failed && n > 0)
    failed = make_csv (joined, lines, ids, n, &options, &csv);
  if (csv)
    failed = rd_import_csv (store, collection, csv, 0,
                            joined->kind == RD_BIDS_SESSIONS ? "sessions"
                                                             : "scans", how);
  for (size_t i = 0; i < n; i++)
    free (ids[i]);
  return failed;
}

/* Joining all collections. */
struct joining {
  const struct joined *joined;
  struct radio_store *store;
  const struct rd_import *import;
  bool quiet;
  bool have[2];               /* files that were found, or given */
  int failed;
};

static enum radio_status
join_table (const struct radio_table_entry *entry, void *user_data)
{
  struct joining *joining = user_data;
  for (int is_given = 1; is_given >= 0 && entry->collection; is_given--)
    if (joining->have[is_given]
        && join_collection (joining->joined, joining->store, entry->path,
                            entry->collection, is_given, joining->import,
                            joining->quiet))
      joining->failed = RD_EXIT_FAILED;
  return RADIO_OK;
}

/* Says how many lines have no volume, as those of typos. */
static void
print_unjoined (const struct joined *joined)
{
  const struct line *first = NULL;
  size_t n = 0;
  for (size_t i = joined->nlines; i-- > 0;)
    if (!joined->lines[i].is_joined) {
      first = &joined->lines[i];
      n++;
    }
  if (first == NULL)
    return;
  printf ("%s: %zu of %zu line%s without a volume: ",
          joined->kind == RD_BIDS_SESSIONS ? "sessions" : "scans", n,
          joined->nlines, rd_plural (joined->nlines));
  rd_text_print (stdout, first->key);
  puts (n > 1 ? ", ..." : "");
}

static int
import_volumes (struct radio_store *store, const struct rd_bids *bids,
                enum rd_bids_kind kind, const struct rd_import *import,
                bool quiet)
{
  RD_CLEANUP (clear_joined) struct joined joined = {
    .kind = kind, .images = bids->images, .nimages = bids->nimages,
  };
  int failed = read_joined (&joined, bids, import, false);
  if (failed || joined.nnames == 0)
    return failed;
  struct joining joining = { .joined = &joined, .store = store,
                             .import = import, .quiet = quiet };
  for (size_t i = 0; i < joined.nsources; i++)
    joining.have[joined.sources[i].is_given] = true;
  if (radio_table_list (store, join_table, &joining) != RADIO_OK)
    return rd_error_library (NULL);
  if (!quiet)
    print_unjoined (&joined);
  return joining.failed;
}

int
rd_bids_check (const struct rd_bids *bids, const struct rd_import *import)
{
  for (size_t i = 0; i < bids->n; i++) {
    const struct rd_bids_file *file = &bids->files[i];
    int failed = file->is_given && file->kind == RD_BIDS_SUBJECTS
      ? rd_import_check (file->name, import) : RD_EXIT_OK;
    if (failed)
      return failed;
  }
  for (int kind = RD_BIDS_SESSIONS; kind < RD_BIDS_NKINDS; kind++) {
    RD_CLEANUP (clear_joined) struct joined joined = {
      .kind = (enum rd_bids_kind) kind
    };
    int failed = read_joined (&joined, bids, import, true);
    if (failed)
      return failed;
  }
  return RD_EXIT_OK;
}

int
rd_bids_import (struct radio_store *store, struct rd_bids *bids,
                const struct rd_import *import, bool quiet)
{
  bool is_given = false;
  int status = RD_EXIT_OK;
  make_unique (bids);
  if (bids->nimages > 0)
    qsort (bids->images, bids->nimages, sizeof *bids->images, by_image_id);
  for (size_t i = 0; i < bids->n; i++)
    if (bids->files[i].kind == RD_BIDS_SUBJECTS && bids->files[i].is_given)
      is_given = true;
  for (size_t i = 0; i < bids->n; i++) {
    const struct rd_bids_file *file = &bids->files[i];
    const struct rd_import_how how = {
      .import = import, .quiet = quiet, .fills = !is_given,
    };
    if (file->kind == RD_BIDS_SUBJECTS && file->is_given == is_given
        && rd_import_file (store, NULL, file->name, how))
      status = RD_EXIT_FAILED;
  }
  for (int kind = RD_BIDS_SESSIONS; kind < RD_BIDS_NKINDS; kind++)
    if (import_volumes (store, bids, (enum rd_bids_kind) kind, import, quiet))
      status = RD_EXIT_FAILED;
  return status;
}
