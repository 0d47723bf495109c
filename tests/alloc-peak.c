/* SPDX-License-Identifier: MIT */
/* The linker sends calls of malloc and its kin here (--wrap). */
#include <config.h>

#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/alloc-peak.h"

void *__real_malloc (size_t nbytes);
void *__real_calloc (size_t n, size_t nbytes);
void *__real_realloc (void *p, size_t nbytes);
void __real_free (void *p);

void *__wrap_malloc (size_t nbytes);
void *__wrap_calloc (size_t n, size_t nbytes);
void *__wrap_realloc (void *p, size_t nbytes);
void __wrap_free (void *p);
char *__wrap_strdup (const char *text);

static _Atomic int64_t held, most;

/* Counts a change of the memory held, and updates the peak. */
static void
note (int64_t change)
{
  int64_t now = atomic_fetch_add (&held, change) + change;
  int64_t before = atomic_load (&most);
  while (now > before && !atomic_compare_exchange_weak (&most, &before, now))
    continue;
}

static int64_t
size_of (void *p)
{
  return p ? (int64_t) malloc_usable_size (p) : 0;
}

void
alloc_peak_begin (void)
{
  atomic_store (&held, 0);
  atomic_store (&most, 0);
}

size_t
alloc_peak (void)
{
  return (size_t) atomic_load (&most);
}

size_t
alloc_peak_held (void)
{
  int64_t now = atomic_load (&held);
  return now > 0 ? (size_t) now : 0;
}

void *
__wrap_malloc (size_t nbytes)
{
  void *p = __real_malloc (nbytes);
  note (size_of (p));
  return p;
}

void *
__wrap_calloc (size_t n, size_t nbytes)
{
  void *p = __real_calloc (n, nbytes);
  note (size_of (p));
  return p;
}

void *
__wrap_realloc (void *p, size_t nbytes)
{
  int64_t before = size_of (p);
  void *grown = __real_realloc (p, nbytes);
  if (grown)
    note (size_of (grown) - before);
  return grown;
}

void
__wrap_free (void *p)
{
  note (-size_of (p));
  __real_free (p);
}

char *
__wrap_strdup (const char *text)
{
  size_t nbytes = strlen (text) + 1;
  char *copy = __wrap_malloc (nbytes);
  return copy ? memcpy (copy, text, nbytes) : NULL;
}
