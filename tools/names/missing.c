/* SPDX-License-Identifier: MIT */
/* Reports operands that name no volume: what they name instead, or that nothing
 * exists by that name. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/names.h"

bool
rd_has_file (const char *path, size_t n, const char *name)
{
  RD_FREE char *file = NULL;
  return asprintf (&file, "%.*s/%s", (int) n, path, name) >= 0
         && access (file, F_OK) == 0;
}

bool
rd_report_foreign (const char *operand)
{
  struct stat st;
  bool exists = !rd_is_url (operand) && stat (operand, &st) == 0;
  size_t n = strlen (operand);
  bool is_v2 = exists && S_ISDIR (st.st_mode)
               && (rd_has_file (operand, n, ".zgroup")
                   || rd_has_file (operand, n, ".zarray"));
  bool is_nifti = (rd_is_url (operand) || (exists && S_ISREG (st.st_mode)))
                  && radio_ingest_is_image (operand);
  if (is_v2)
    rd_error ("%s: Zarr version 2, and only version 3 is read; convert it, as "
              "by zarr-python's 'zarr migrate v3'", operand);
  else if (is_nifti && rd_is_url (operand))
    rd_error ("%.*s: a NIfTI file, not a volume of a store; it can be read "
              "where it is, and 'radio ingest' adds a local copy to a store",
              (int) rd_shown_nbytes (operand), operand);
  else if (is_nifti)
    rd_error ("%s: a NIfTI file, not a volume of a store; add it by 'radio "
              "ingest %s'", operand, operand);
  return is_v2 || is_nifti;
}

/* Reports what is at a path, and is no node; false if nothing is. */
static bool
report_other (const char *operand, const char *and, const char *message)
{
  struct stat st;
  if (rd_is_url (operand) || lstat (operand, &st) != 0)
    return false;
  if (stat (operand, &st) != 0)
    rd_error ("%s: %s", operand, strerror (errno));
  else if (!S_ISDIR (st.st_mode))
    rd_error ("%s: a file, not a store, volume or array%s%s", operand, and,
              message);
  else
    rd_error ("%s: not a store, volume or array (it has no zarr.json)%s%s",
              operand, and, message);
  return true;
}

bool
rd_report_no_path (const char *operand, const char *message)
{
  size_t n = rd_is_url (operand) ? 0 : strlen (operand);
  if (report_other (operand, message ? ", and " : "", message ? message : ""))
    return true;
  for (size_t up = rd_parent_length (operand, n, 0); up > 0;
       up = rd_parent_length (operand, up, 0)) {
    RD_FREE char *above = strndup (operand, up);
    RD_FREE char *root = NULL, *path = NULL;
    if (above && rd_split_path (above, &root, &path))
      return rd_error ("%s: no such volume in %s", operand, root), true;
    if (above && rd_is_store_name (above, up) && access (above, F_OK) != 0)
      return rd_error ("%s: no store at '%s'; create it with 'radio ingest'",
                       operand, above), true;
  }
  bool is_store = rd_is_store_name (operand, n);
  bool is_file = n > 0 && radio_ingest_is_image (operand);
  if ((!is_store && !is_file) || access (operand, F_OK) == 0)
    return false;
  rd_error ("%s: %s", operand, strerror (errno));
  return true;
}

int
rd_report_no_node (const char *operand)
{
  if (rd_report_foreign (operand))
    return RD_EXIT_FAILED;
  if (strpbrk (operand, "*?[") != NULL)
    return rd_error ("no volume matches '%s'", operand);
  if (!report_other (operand, "", ""))
    rd_error ("%s: %s", operand, strerror (errno));
  return RD_EXIT_FAILED;
}

static enum radio_status
stop_at_volume (const struct radio_entry *entry, void *user_data)
{
  bool *has_volumes = user_data;
  (void) entry;
  *has_volumes = true;
  return RADIO_ERROR_CANCELLED;
}

/* A store may have lost its root's document, and still have volumes. */
int
rd_report_no_store (const struct rd_args *args, const char *name)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  bool has_volumes = false;
  if (rd_uri_open (args, name, RD_URI_ANY_ROOT, &store) == RADIO_OK
      && radio_store_list (store, NULL, stop_at_volume, &has_volumes)
         != RADIO_OK && has_volumes)
    return rd_error ("%s: its zarr.json is missing, while there are volumes "
                     "below; the next 'radio ingest' into it writes it again",
                     name);
  return rd_error ("no store at '%s'; use --store or RADIO_STORE, or create "
                   "it with 'radio ingest'", name);
}

bool
rd_report_no_tables (const struct rd_args *args, const char *url)
{
  size_t n = strlen (url), scheme = rd_scheme_nbytes (url);
  while (n > scheme && url[n - 1] == '/')
    n--;
  size_t above = rd_parent_length (url, n, scheme), name = above;
  if (above <= scheme || rd_is_store_name (url, n)
      || memchr (url + scheme, '/', above - scheme) == NULL)
    return false;
  while (url[name] == '/')
    name++;
  rd_error ("%.*s: no store with tables, by which --where and --subject "
            "select; if it is a collection, name its store, too: 'radio %s -s "
            "%.*s %.*s'", (int) n, url, args->command->name, (int) above, url,
            (int) (n - name), url + name);
  return true;
}

bool
rd_report_tables (struct radio_store *store, const char *path,
                  const char *operand)
{
  struct radio_cohort *cohort = NULL;
  size_t n = strcspn (path, "/");
  if (n != strlen ("tables") || strncmp (path, "tables", n) != 0
      || radio_cohort_open (store, &cohort) != RADIO_OK)
    return false;
  bool has_tables = radio_cohort_has_tables (cohort);
  radio_cohort_close (cohort);
  if (has_tables)
    rd_error ("%s: the store's tables, not a collection; see 'radio table'",
              operand);
  return has_tables;
}
