/* SPDX-License-Identifier: MIT */
/* The files of an ingest: found in folders and by patterns, and named before
 * anything is written. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "src/base/text.h"
#include "tools/ingest/files.h"
#include "tools/text.h"

/* Deeper trees are probably loops. */
#define MAX_DEPTH 64

static bool
add_file (struct rd_found_files *files, const char *name,
          const struct stat *st, bool is_found)
{
  if (files->n == files->capacity) {
    size_t capacity = files->capacity ? 2 * files->capacity : 64;
    struct rd_file *list = reallocarray (files->list, capacity, sizeof *list);
    if (list == NULL)
      return false;
    files->list = list;
    files->capacity = capacity;
  }
  struct rd_file file = { .name = strdup (name), .is_found = is_found };
  if (file.name == NULL)
    return false;
  if (st) {
    file.nbytes = st->st_size > 0 ? (uint64_t) st->st_size : 0;
    file.device = st->st_dev;
    file.inode = st->st_ino;
  }
  files->list[files->n++] = file;
  return true;
}

static int
is_visible (const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static int
in_byte_order (const struct dirent **a, const struct dirent **b)
{
  return strcmp ((*a)->d_name, (*b)->d_name);
}

/* Adds the images in and below a folder.  Folders that are links are not
 * followed: they could form a loop. */
static bool
add_folder (struct rd_found_files *files, const char *name, int depth)
{
  struct dirent **entries;
  int n = depth < MAX_DEPTH
    ? scandir (name, &entries, is_visible, in_byte_order)
    : (errno = ELOOP, -1);
  if (n < 0) {
    rd_error ("%s: %s", name, strerror (errno));
    files->nbad++;
    return true;
  }
  bool slash = name[strlen (name) - 1] == '/';
  bool ok = true;
  for (int i = 0; i < n; i++) {
    RD_FREE char *below = rd_format ("%s%s%s", name, slash ? "" : "/",
                                     entries[i]->d_name);
    struct stat st;
    ok = ok && below != NULL;
    if (!ok || lstat (below, &st) != 0)
      ;
    else if (S_ISDIR (st.st_mode))
      ok = add_folder (files, below, depth + 1);
    else if (radio_ingest_is_image (below)) {
      if (stat (below, &st) != 0)
        ok = add_file (files, below, NULL, true);
      else if (S_ISREG (st.st_mode))
        ok = add_file (files, below, &st, true);
    }
    free (entries[i]);
  }
  free (entries);
  return ok;
}

bool
rd_files_add (struct rd_found_files *files, const char *name)
{
  struct stat st;
  if (stat (name, &st) != 0) {
    /* Maybe a pattern that no shell expanded, as from a list; one without
     * matches is a missing file. */
    glob_t found;
    int status = strpbrk (name, "*?[") ? glob (name, 0, NULL, &found)
                                       : GLOB_NOMATCH;
    if (status != 0)
      return status != GLOB_NOSPACE && add_file (files, name, NULL, false);
    bool ok = true;
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
      ok = stat (found.gl_pathv[i], &st) == 0
           ? rd_files_add (files, found.gl_pathv[i])
           : add_file (files, found.gl_pathv[i], NULL, false);
    globfree (&found);
    return ok;
  }
  if (!S_ISDIR (st.st_mode))
    return add_file (files, name, &st, false);
  size_t before = files->n, bad = files->nbad;
  if (!add_folder (files, name, 0))
    return false;
  if (files->n == before && files->nbad == bad) {
    rd_error ("%s: no NIfTI images in this folder", name);
    files->nbad++;
  }
  return true;
}

/* The length of the stem of "a.hdr", "a.img.gz" and the like, or 0. */
static size_t
pair_stem (const char *name, bool *is_img)
{
  size_t n = strlen (name);
  if (rd_ends_with (name, ".gz"))
    n -= 3;
  if (n < 5)
    return 0;
  *is_img = strncasecmp (name + n - 4, ".img", 4) == 0;
  if (!*is_img && strncasecmp (name + n - 4, ".hdr", 4) != 0)
    return 0;
  return n - 4;
}

/* True if two names of one path are one image; *second if b is the one to
 * drop. */
static bool
same_image (const struct rd_file *a, const struct rd_file *b, bool *second)
{
  *second = true;
  if (a->inode != 0 && a->inode == b->inode && a->device == b->device)
    return true;
  bool a_img, b_img;
  size_t na = pair_stem (a->name, &a_img), nb = pair_stem (b->name, &b_img);
  if (na == 0 || na != nb || a_img == b_img
      || strncmp (a->name, b->name, na) != 0)
    return false;
  *second = b_img;
  return true;
}

static int
by_path (const void *a, const void *b)
{
  const struct rd_file *x = *(struct rd_file *const *) a;
  const struct rd_file *y = *(struct rd_file *const *) b;
  int order = strcmp (x->path, y->path);
  if (order != 0)
    return order;
  return (x > y) - (x < y);
}

void
rd_file_clear (struct rd_file *file)
{
  free (file->name);
  free (file->path);
  free (file->message);
  file->name = file->path = file->message = NULL;
}

/* The name of the folder of a file; allocated, NULL without memory. */
static char *
folder_name (const char *file)
{
  const char *slash = strrchr (file, '/');
  RD_FREE char *folder = slash ? strndup (file, (size_t) (slash - file))
                               : strdup (".");
  char *base = folder ? strrchr (folder, '/') : NULL;
  const char *name = base ? base + 1 : folder;
  if (name == NULL)
    return NULL;
  if (*name && strcmp (name, ".") != 0 && strcmp (name, "..") != 0)
    return strdup (name);
  RD_FREE char *path = realpath (*folder ? folder : "/", NULL);
  base = path ? strrchr (path, '/') : NULL;
  return strdup (base ? base + 1 : "");
}

/* Names the volume of a file.  *is_other is true if it is not of the layout;
 * then, and if its name makes no legal path, it has a message instead.  Returns
 * an exit status; prints errors. */
static int
set_path (struct rd_file *file, const struct rd_naming *naming,
          bool *is_other)
{
  RD_FREE char *folder = naming->from == RD_FROM_FOLDER
                         ? folder_name (file->name) : NULL;
  enum radio_status status;
  if (naming->from == RD_FROM_FOLDER && folder == NULL)
    return rd_error_memory ();
  free (file->path);
  free (file->message);
  file->path = file->message = NULL;
  if (naming->layout) {
    struct radio_layout_file to = { .path = NULL };
    status = radio_layout_name (naming->layout, file->name,
                                naming->collection, &to);
    file->path = to.path;
    file->is_labels = to.is_labels;
    file->labels = to.labels;
    file->nlabels = to.nlabels;
  } else
    status = radio_ingest_path (file->name, folder ? folder
                                                   : naming->collection,
                                &file->path);
  *is_other = status == RADIO_ERROR_NOT_FOUND;
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  if (!*is_other && status != RADIO_ERROR_ARGUMENT)
    return rd_error_library (file->name);
  file->message = strdup (radio_error_message ());
  return file->message ? RD_EXIT_OK : rd_error_memory ();
}

/* Names the volumes of all files; false after an error.  A file has no path if
 * it has no legal one. */
static bool
set_paths (struct rd_found_files *files, const struct rd_naming *naming)
{
  size_t nothers = 0, nnamed = 0;
  RD_FREE char *other = NULL;
  for (size_t i = 0; i < files->n; i++) {
    struct rd_file *file = &files->list[i];
    bool is_other = false;
    if (file->name == NULL)
      continue;
    if (set_path (file, naming, &is_other))
      return false;
    nnamed += !is_other;
    if (!is_other || !file->is_found)
      continue;
    nothers++;
    free (other);
    other = file->message;
    file->message = NULL;
    rd_file_clear (file);
  }
  if (nothers == 0)
    return true;
  if (nnamed == 0)
    return rd_error ("no file that was found is of the layout: %s", other),
           false;
  RD_FREE char *text = rd_format (
    "%zu file%s skipped: %s", nothers, rd_plural (nothers), other);
  if (text)
    rd_warn (text);
  return text != NULL;
}

/* True if two files would have volumes of different names with collections
 * named after their folders. */
static bool
differ_by_folder (const struct rd_file *a, const struct rd_file *b)
{
  RD_FREE char *x = folder_name (a->name), *y = folder_name (b->name);
  return x && y && strcmp (x, y) != 0;
}

bool
rd_files_name (struct rd_found_files *files, const struct rd_naming *naming)
{
  RD_FREE struct rd_file **sorted = calloc (files->n + 1, sizeof *sorted);
  bool ok = true;
  size_t n = 0, nsorted = 0;
  if (sorted == NULL || !set_paths (files, naming))
    return sorted ? false : (rd_error_memory (), false);
  for (size_t i = 0; i < files->n; i++)
    if (files->list[i].path)
      sorted[nsorted++] = &files->list[i];
  qsort (sorted, nsorted, sizeof *sorted, by_path);
  for (size_t i = 0; i < nsorted; i++) {
    struct rd_file *a = n ? sorted[n - 1] : NULL, *b = sorted[i];
    bool second;
    if (a && strcmp (a->path, b->path) == 0 && same_image (a, b, &second)) {
      sorted[n - 1] = second ? a : b;
      rd_file_clear (second ? b : a);
    } else
      sorted[n++] = b;
  }
  bool is_open = !naming->collection && !naming->layout
                 && naming->from == RD_FROM_EITHER;
  for (size_t i = 1; i < n && is_open; i++) {
    const struct rd_file *a = sorted[i - 1], *b = sorted[i];
    if (strcmp (a->path, b->path) != 0 || !differ_by_folder (a, b))
      continue;
    RD_FREE char *text = rd_format (
      "'%s' and '%s' both map to %s: collections are named after the "
      "folders (--collection-from=folder)", a->name, b->name, a->path);
    static const struct rd_naming by_folder = { .from = RD_FROM_FOLDER };
    ok = text && rd_files_name (files, &by_folder);
    if (ok)
      rd_warn (text);
    return ok;
  }
  for (size_t i = 1; i < n; i++) {
    const struct rd_file *a = sorted[i - 1], *b = sorted[i];
    if (strcmp (a->path, b->path) != 0)
      continue;
    rd_error ("'%s' and '%s' both map to %s; %s", a->name, b->name, a->path,
              naming->layout ? "use a --pattern that distinguishes them"
                             : "use a separate -c for each");
    ok = false;
  }
  n = 0;
  for (size_t i = 0; i < files->n; i++)
    if (files->list[i].name)
      files->list[n++] = files->list[i];
  files->n = n;
  return ok;
}

void
rd_found_files_clear (struct rd_found_files *files)
{
  for (size_t i = 0; i < files->n; i++)
    rd_file_clear (&files->list[i]);
  free (files->list);
  memset (files, 0, sizeof *files);
}
