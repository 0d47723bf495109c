/* SPDX-License-Identifier: MIT */
/* A folder for one test. */
#ifndef RD_TESTS_PLACE_H
#define RD_TESTS_PLACE_H

#include "io/io.h"

/* A new empty folder in the current one, which is on a real disk in a build
 * tree; allocated.  Ends the program when it cannot be made. */
char *place_new (void);

/* Remove the folder with all in it, and free its name. */
void place_remove (char *place);

/* "PLACE/NAME", allocated; and a file of that path that holds a text. */
char *place_path (const char *place, const char *name);
void place_write (const char *path, const char *text);

/* The number of directory entries of a folder, hidden ones too; SIZE_MAX when
 * it cannot be read. */
size_t place_count (const char *folder);

/* A posix store in a new place; aborts the test on failure. */
struct rd_io *place_open (const char *place);

#endif /* RD_TESTS_PLACE_H */
