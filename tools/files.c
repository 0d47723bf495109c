/* SPDX-License-Identifier: MIT */
/* The files of an ingest. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "tools/files.h"

/* Deeper trees are loops, or nobody's data. */
#define MAX_DEPTH 64

static bool
add_file (struct rd_files *files, const char *name, const struct stat *st)
{
  if (files->n == files->capacity) {
    size_t capacity = files->capacity ? 2 * files->capacity : 64;
    struct rd_file *list = reallocarray (files->list, capacity,
                                         sizeof *list);
    if (list == NULL)
      return false;
    files->list = list;
    files->capacity = capacity;
  }
  struct rd_file *file = &files->list[files->n];
  memset (file, 0, sizeof *file);
  file->name = strdup (name);
  if (file->name == NULL)
    return false;
  if (st) {
    file->nbytes = st->st_size > 0 ? (uint64_t) st->st_size : 0;
    file->device = st->st_dev;
    file->inode = st->st_ino;
  }
  files->n++;
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

static bool add_folder (struct rd_files *files, const char *name, int depth);

/* Folders that are links are not followed: they could lead in a circle. */
static bool
add_entry (struct rd_files *files, const char *name, int depth)
{
  struct stat st;
  if (lstat (name, &st) != 0)
    return true;
  if (S_ISDIR (st.st_mode))
    return add_folder (files, name, depth + 1);
  if (!radio_ingest_is_image (name))
    return true;
  if (stat (name, &st) != 0)
    return add_file (files, name, NULL);
  return !S_ISREG (st.st_mode) || add_file (files, name, &st);
}

static bool
add_folder (struct rd_files *files, const char *name, int depth)
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
    ok = ok && below != NULL && add_entry (files, below, depth);
    free (entries[i]);
  }
  free (entries);
  return ok;
}

/* A pattern that no shell expanded, as from a list or a service's unit; one
 * that matches nothing is a file that is not there. */
static bool
add_pattern (struct rd_files *files, const char *name)
{
  glob_t found;
  int status = glob (name, GLOB_NOCHECK, NULL, &found);
  if (status != 0)
    return status != GLOB_NOSPACE && add_file (files, name, NULL);
  bool is_itself = found.gl_pathc == 1
    && strcmp (found.gl_pathv[0], name) == 0;
  bool ok = !is_itself || add_file (files, name, NULL);
  for (size_t i = 0; !is_itself && ok && i < found.gl_pathc; i++)
    ok = rd_files_add (files, found.gl_pathv[i]);
  globfree (&found);
  return ok;
}

bool
rd_files_add (struct rd_files *files, const char *name)
{
  struct stat st;
  if (stat (name, &st) != 0)
    return strpbrk (name, "*?[") ? add_pattern (files, name)
                                 : add_file (files, name, NULL);
  if (!S_ISDIR (st.st_mode))
    return add_file (files, name, &st);
  size_t before = files->n, bad = files->nbad;
  if (!add_folder (files, name, 0))
    return false;
  if (files->n == before && files->nbad == bad) {
    rd_error ("%s: no NIfTI images in this folder", name);
    files->nbad++;
  }
  return true;
}

/* The length of the stem of a pair's half, and whether it is the .img. */
static size_t
pair_stem (const char *name, bool *is_img)
{
  size_t n = strlen (name);
  if (n > 3 && strcasecmp (name + n - 3, ".gz") == 0)
    n -= 3;
  if (n < 5)
    return 0;
  *is_img = strncasecmp (name + n - 4, ".img", 4) == 0;
  if (!*is_img && strncasecmp (name + n - 4, ".hdr", 4) != 0)
    return 0;
  return n - 4;
}

/* Whether two names of one path are one image; *second says which of them
 * is to be dropped. */
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

static void
drop (struct rd_file *file)
{
  free (file->name);
  free (file->path);
  file->name = file->path = NULL;
}

/* Of neighbours with one path, drop what is the same image; false after
 * naming those that are not. */
static bool
compare_neighbours (struct rd_file **sorted, size_t n)
{
  bool fine = true;
  for (size_t i = 1; i < n; i++) {
    struct rd_file *a = sorted[i - 1], *b = sorted[i];
    bool second;
    if (strcmp (a->path, b->path) != 0)
      continue;
    if (!same_image (a, b, &second)) {
      rd_error ("'%s' and '%s' would both become %s: ingest them into "
                "two collections (-c)", a->name, b->name, a->path);
      fine = false;
      continue;
    }
    /* The one that stays is compared with the next. */
    if (second)
      sorted[i] = a;
    drop (second ? b : a);
  }
  return fine;
}

static void
close_gaps (struct rd_files *files)
{
  size_t n = 0;
  for (size_t i = 0; i < files->n; i++)
    if (files->list[i].name)
      files->list[n++] = files->list[i];
  files->n = n;
}

bool
rd_files_settle (struct rd_files *files, const char *collection)
{
  struct rd_file **sorted = reallocarray (NULL, files->n + 1,
                                          sizeof *sorted);
  if (sorted == NULL) {
    rd_error_memory ();
    return false;
  }
  size_t n = 0;
  for (size_t i = 0; i < files->n; i++) {
    struct rd_file *file = &files->list[i];
    if (radio_ingest_path (file->name, collection, &file->path) == RADIO_OK)
      sorted[n++] = file;
    else
      file->path = NULL;
  }
  qsort (sorted, n, sizeof *sorted, by_path);
  bool fine = compare_neighbours (sorted, n);
  free (sorted);
  close_gaps (files);
  return fine;
}

void
rd_files_clear (struct rd_files *files)
{
  for (size_t i = 0; i < files->n; i++)
    drop (&files->list[i]);
  free (files->list);
  memset (files, 0, sizeof *files);
}
