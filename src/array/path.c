/* SPDX-License-Identifier: MIT */
/* Paths of nodes: legal or not, and the keys below them. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/array/path.h"

static bool
is_all_dots (const char *name)
{
  return name[strspn (name, ".")] == '\0';
}

/* One name of a path. */
static enum radio_status
check_name (const char *path, const char *name, bool is_new)
{
  enum radio_status status = RADIO_OK;
  if (is_new)
    status = rd_node_name_check (name);
  else if (name[0] == '\0')
    status = rd_fail (RADIO_ERROR_ARGUMENT, "a name in it is empty");
  else if (is_all_dots (name))
    status = rd_fail (RADIO_ERROR_ARGUMENT, "'%s' is no name of a node",
                      name);
  if (status != RADIO_OK)
    return rd_fail_in (status, "path '%s'", path);
  return RADIO_OK;
}

enum radio_status
rd_path_check (const char *path, bool is_new)
{
  if (!path)
    return rd_fail (RADIO_ERROR_ARGUMENT, "path is NULL");
  size_t nbytes = strlen (path);
  if (nbytes > RD_PATH_MAX_NBYTES)
    return rd_fail (RADIO_ERROR_ARGUMENT, "path of %zu bytes: at most %d are "
                    "possible", nbytes, RD_PATH_MAX_NBYTES);
  char names[RD_PATH_MAX_NBYTES + 1];
  memcpy (names, path, nbytes + 1);
  char *name = nbytes ? names : NULL;
  while (name) {
    char *slash = strchr (name, '/');
    if (slash)
      *slash = '\0';
    RD_TRY (check_name (path, name, is_new));
    name = slash ? slash + 1 : NULL;
  }
  return RADIO_OK;
}

void
rd_path_key (const char *path, const char *name, char key[RD_KEY_NBYTES])
{
  size_t path_nbytes = strlen (path);
  memcpy (key, path, path_nbytes);
  if (path_nbytes > 0)
    key[path_nbytes++] = '/';
  memcpy (key + path_nbytes, name, strlen (name) + 1);
}
