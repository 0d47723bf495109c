/* SPDX-License-Identifier: MIT */
/* Variables of the environment.  Include it after config.h. */
#ifndef RD_BASE_ENVIRONMENT_H
#define RD_BASE_ENVIRONMENT_H

#include <stdlib.h>
#include <unistd.h>

/* Returns a variable, which may be empty, or NULL.  A program with rights that
 * its user lacks ignores the environment. */
static inline const char *
rd_get_variable (const char *name)
{
#ifdef HAVE_SECURE_GETENV
  return secure_getenv (name);
#else
  return geteuid () == getuid () && getegid () == getgid () ? getenv (name)
                                                            : NULL;
#endif
}

#endif /* RD_BASE_ENVIRONMENT_H */
