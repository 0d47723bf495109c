/* SPDX-License-Identifier: MIT */
/* The linker sends calls of malloc and its kin here (--wrap).  strdup and
 * strndup allocate inside the C library, hence have wrappers too. */
#include <config.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/alloc-fail.h"

void *__real_malloc (size_t nbytes);
void *__real_calloc (size_t n, size_t nbytes);
void *__real_realloc (void *p, size_t nbytes);
int __real_posix_memalign (void **p, size_t alignment, size_t nbytes);
void *__real_aligned_alloc (size_t alignment, size_t nbytes);

void *__wrap_malloc (size_t nbytes);
void *__wrap_calloc (size_t n, size_t nbytes);
void *__wrap_realloc (void *p, size_t nbytes);
int __wrap_posix_memalign (void **p, size_t alignment, size_t nbytes);
void *__wrap_aligned_alloc (size_t alignment, size_t nbytes);
char *__wrap_strdup (const char *text);
char *__wrap_strndup (const char *text, size_t max_nbytes);

static _Thread_local struct {
  size_t nth;                 /* 0: none */
  size_t max_nbytes;          /* 0: any */
  size_t count;
  size_t largest;
  bool did_fail;
} now;

static void
begin (size_t nth, size_t max_nbytes)
{
  now.nth = nth;
  now.max_nbytes = max_nbytes;
  now.count = 0;
  now.largest = 0;
  now.did_fail = false;
}

void
alloc_fail_nth (size_t nth)
{
  begin (nth, 0);
}

void
alloc_fail_above (size_t nbytes)
{
  begin (0, nbytes);
}

bool
alloc_fail_end (void)
{
  now.nth = 0;
  now.max_nbytes = 0;
  return now.did_fail;
}

size_t
alloc_fail_largest (void)
{
  return now.largest;
}

size_t
alloc_fail_count (void)
{
  return now.count;
}

static bool
must_fail (size_t nbytes)
{
  now.count++;
  if (nbytes > now.largest)
    now.largest = nbytes;
  bool fails = now.count == now.nth
               || (now.max_nbytes > 0 && nbytes > now.max_nbytes);
  now.did_fail |= fails;
  /* As POSIX has it: strdup and the like are asked for their reason. */
  if (fails)
    errno = ENOMEM;
  return fails;
}

void *
__wrap_malloc (size_t nbytes)
{
  return must_fail (nbytes) ? NULL : __real_malloc (nbytes);
}

void *
__wrap_calloc (size_t n, size_t nbytes)
{
  size_t total;
  if (__builtin_mul_overflow (n, nbytes, &total))
    total = SIZE_MAX;
  return must_fail (total) ? NULL : __real_calloc (n, nbytes);
}

void *
__wrap_realloc (void *p, size_t nbytes)
{
  return must_fail (nbytes) ? NULL : __real_realloc (p, nbytes);
}

int
__wrap_posix_memalign (void **p, size_t alignment, size_t nbytes)
{
  return must_fail (nbytes) ? ENOMEM
                            : __real_posix_memalign (p, alignment, nbytes);
}

void *
__wrap_aligned_alloc (size_t alignment, size_t nbytes)
{
  return must_fail (nbytes) ? NULL
                            : __real_aligned_alloc (alignment, nbytes);
}

char *
__wrap_strndup (const char *text, size_t max_nbytes)
{
  size_t nbytes = strnlen (text, max_nbytes);
  char *copy = __wrap_malloc (nbytes + 1);
  if (copy == NULL)
    return NULL;
  memcpy (copy, text, nbytes);
  copy[nbytes] = '\0';
  return copy;
}

char *
__wrap_strdup (const char *text)
{
  return __wrap_strndup (text, strlen (text));
}
