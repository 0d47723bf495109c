/* SPDX-License-Identifier: MIT */
/* Pseudonyms of subjects. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <radio/index.h>

#include "src/base/text.h"
#include "tools/pseudonyms.h"

#define MIN_NBYTES 16

static int
check_key (const char *name, struct rd_key *key)
{
  if (key->nbytes == sizeof key->bytes)
    return rd_error ("%s: has %zu bytes or more, too many for a key; make one "
                     "by 'head -c 32 /dev/urandom'", name, sizeof key->bytes);
  while (key->nbytes > 0
         && strchr (" \t\r\n", key->bytes[key->nbytes - 1])
         && key->bytes[key->nbytes - 1] != '\0')
    key->nbytes--;
  if (key->nbytes < MIN_NBYTES)
    return rd_error ("%s: a key of %zu bytes, of which all could be tried; use "
                     "at least %d, as 'head -c 32 /dev/urandom' makes them",
                     name, key->nbytes, MIN_NBYTES);
  return RD_EXIT_OK;
}

int
rd_key_read (const char *name, struct rd_key *key)
{
  struct stat info;
  FILE *file = fopen (name, "rb");
  key->nbytes = 0;
  if (file == NULL)
    return rd_error ("%s: %s", name, strerror (errno));
  /* It is not kept in a buffer that is freed with it. */
  setvbuf (file, NULL, _IONBF, 0);
  key->nbytes = fread (key->bytes, 1, sizeof key->bytes, file);
  bool failed = ferror (file) != 0;
  int error = errno;
  bool is_file = fstat (fileno (file), &info) == 0 && S_ISREG (info.st_mode);
  fclose (file);
  if (failed)
    return rd_error ("%s: %s", name, strerror (error));
  if (is_file && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    RD_FREE char *line = rd_format (
      "%s: others may read this key (mode %03o), and find who is who; use "
      "'chmod 600'", name, (unsigned) info.st_mode & 0777);
    if (line)
      rd_warn (line);
  }
  return check_key (name, key);
}

void
rd_key_clear (struct rd_key *key)
{
  explicit_bzero (key, sizeof *key);
}

char *
rd_key_path (const struct rd_key *key, const char *path)
{
  char pseudonym[RADIO_PSEUDONYM_NBYTES];
  const char *name = rd_base_name (path);
  size_t n = radio_name_subject (name);
  bool has_prefix = strncmp (name, "sub-", 4) == 0
                    || strncmp (name, "tpl-", 4) == 0;
  RD_FREE char *subject = strndup (name, n);
  if (subject == NULL)
    return rd_error_memory (), NULL;
  if (radio_pseudonym (key->bytes, key->nbytes, subject, pseudonym)
      != RADIO_OK)
    return rd_error_library (NULL), NULL;
  char *to_path = rd_format ("%.*s%.*s%s%s", (int) (name - path), path,
                             has_prefix ? 4 : 0, name, pseudonym, name + n);
  if (to_path == NULL)
    rd_error_memory ();
  return to_path;
}

static bool
is_in_word (char c)
{
  return c && strchr ("0123456789abcdefghijklmnopqrstuvwxyz"
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ", c);
}

bool
rd_shows_subject (const char *path, const char *to_path)
{
  const char *subject = rd_base_name (path);
  size_t n = radio_name_subject (subject);
  for (const char *p = to_path; *p && n > 0; p++)
    if (strncmp (p, subject, n) == 0 && !is_in_word (p[n])
        && (p == to_path || !is_in_word (p[-1])))
      return true;
  return false;
}

bool
rd_is_one_subject (const char *a, const char *b)
{
  const char *x = rd_base_name (a), *y = rd_base_name (b);
  size_t n = radio_name_subject (x);
  return radio_name_subject (y) == n && memcmp (x, y, n) == 0;
}

/*------------------------------------------------------------------------
 * Ids in text
 *----------------------------------------------------------------------*/

bool
rd_ids_add_subject (struct rd_text_set *ids, const char *id, size_t n)
{
  bool is_bids = n > 4 && strncmp (id, "sub-", 4) == 0;
  bool is_number = true;
  for (size_t i = 4; i < n && is_bids; i++)
    is_number = is_number && id[i] >= '0' && id[i] <= '9';
  if (is_bids && !is_number && n >= 4 + 3
      && !rd_text_set_add (ids, id + 4, n - 4))
    return false;
  return rd_text_set_add (ids, id, n);
}

bool
rd_ids_are_in (const struct rd_text_set *ids, const char *at, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && is_in_word (at[i - 1]))
      continue;
    for (size_t k = 1; k <= ids->longest && k <= n - i; k++)
      if ((i + k == n || !is_in_word (at[i + k]))
          && rd_text_set_has (ids, at + i, k))
        return true;
  }
  return false;
}
