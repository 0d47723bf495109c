/* SPDX-License-Identifier: MIT */
/* The files of an ingest: found in folders, and named. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "tools/files.h"

/* Deeper trees are probably loops. */
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
  struct rd_file file = { .name = strdup (name) };
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
    struct stat st;
    ok = ok && below != NULL;
    if (!ok || lstat (below, &st) != 0)
      ;
    else if (S_ISDIR (st.st_mode))
      ok = add_folder (files, below, depth + 1);
    else if (radio_ingest_is_image (below)) {
      if (stat (below, &st) != 0)
        ok = add_file (files, below, NULL);
      else if (S_ISREG (st.st_mode))
        ok = add_file (files, below, &st);
    }
    free (entries[i]);
  }
  free (entries);
  return ok;
}

bool
rd_files_add (struct rd_files *files, const char *name)
{
  struct stat st;
  if (stat (name, &st) != 0) {
    /* Maybe a pattern that no shell expanded, as from a list; one without
     * matches is a missing file. */
    glob_t found;
    int status = strpbrk (name, "*?[") ? glob (name, 0, NULL, &found)
                                       : GLOB_NOMATCH;
    if (status != 0)
      return status != GLOB_NOSPACE && add_file (files, name, NULL);
    bool ok = true;
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
      ok = stat (found.gl_pathv[i], &st) == 0
           ? rd_files_add (files, found.gl_pathv[i])
           : add_file (files, found.gl_pathv[i], NULL);
    globfree (&found);
    return ok;
  }
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

/* The length of the stem of "a.hdr", "a.img.gz" and the like, or 0. */
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

static void
drop_file (struct rd_file *file)
{
  free (file->name);
  free (file->path);
  file->name = file->path = NULL;
}

bool
rd_files_name (struct rd_files *files, const char *collection)
{
  RD_FREE struct rd_file **sorted = reallocarray (NULL, files->n + 1,
                                                  sizeof *sorted);
  bool ok = true;
  size_t n = 0;
  if (sorted == NULL)
    return rd_error_memory (), false;
  for (size_t i = 0; i < files->n; i++) {
    struct rd_file *file = &files->list[i];
    if (radio_ingest_path (file->name, collection, &file->path) == RADIO_OK)
      sorted[n++] = file;
    else
      file->path = NULL;
  }
  qsort (sorted, n, sizeof *sorted, by_path);
  for (size_t i = 1; i < n; i++) {
    struct rd_file *a = sorted[i - 1], *b = sorted[i];
    bool second;
    if (strcmp (a->path, b->path) != 0)
      continue;
    if (same_image (a, b, &second)) {
      /* The one that stays is compared with the next. */
      if (second)
        sorted[i] = a;
      drop_file (second ? b : a);
    } else {
      rd_error ("'%s' and '%s' both map to %s; use a separate -c for each",
                a->name, b->name, a->path);
      ok = false;
    }
  }
  n = 0;
  for (size_t i = 0; i < files->n; i++)
    if (files->list[i].name)
      files->list[n++] = files->list[i];
  files->n = n;
  return ok;
}

void
rd_files_clear (struct rd_files *files)
{
  for (size_t i = 0; i < files->n; i++)
    drop_file (&files->list[i]);
  free (files->list);
  memset (files, 0, sizeof *files);
}
