/* SPDX-License-Identifier: MIT */
/* A stub of Intel's header of the same name, with the declarations that tap.c
 * uses.  The test defines the functions. */
#ifndef RD_TESTS_ITTNOTIFY_H
#define RD_TESTS_ITTNOTIFY_H

typedef struct ___itt_domain {
  volatile int flags;
  const char *nameA;
} __itt_domain;

typedef struct ___itt_id {
  unsigned long long d1, d2, d3;
} __itt_id;

static const __itt_id __itt_null = { 0, 0, 0 };

typedef struct ___itt_string_handle {
  const char *strA;
  void *strW;
  int extra1;
  void *extra2;
  struct ___itt_string_handle *next;
} __itt_string_handle;

__itt_domain *__itt_domain_create (const char *name);
__itt_string_handle *__itt_string_handle_create (const char *name);
void __itt_task_begin (const __itt_domain *domain, __itt_id taskid,
                       __itt_id parentid, __itt_string_handle *name);
void __itt_task_end (const __itt_domain *domain);

#endif /* RD_TESTS_ITTNOTIFY_H */
