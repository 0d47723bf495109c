/* SPDX-License-Identifier: MIT */
/* A folder of its own for a test or a group of tests: cmocka's setup and
 * teardown, which enter it and leave it empty. */
#ifndef RD_TESTS_NIFTI_FOLDER_H
#define RD_TESTS_NIFTI_FOLDER_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
enter_folder (void **state)
{
  char *folder = strdup ("test-nifti.XXXXXX");
  *state = folder;
  return folder == NULL || mkdtemp (folder) == NULL || chdir (folder) != 0;
}

static int
leave_folder (void **state)
{
  DIR *dir = opendir (".");
  struct dirent *entry;
  while (dir && (entry = readdir (dir)) != NULL)
    if (unlink (entry->d_name) != 0)
      rmdir (entry->d_name);
  closedir (dir);
  int failed = chdir ("..") != 0 || rmdir (*state) != 0;
  free (*state);
  return failed;
}

#endif /* RD_TESTS_NIFTI_FOLDER_H */
