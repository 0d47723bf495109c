/* SPDX-License-Identifier: MIT */
/* Taps: calls into other tools.  A USDT probe is an instruction that does
 * nothing, and a note in the library with the addresses of the instruction
 * and of its arguments:
 *
 *   bpftrace -e 'usdt:libradio.so:radio:scope__begin { ... str (arg0) }'
 *   perf probe -x libradio.so sdt_radio:scope__begin
 */
#include <config.h>

#include <string.h>

#include "profiler/record/frame.h"
#include "profiler/record/writer.h"

#ifdef RD_WITH_USDT
#include <sys/sdt.h>
#define PROBE(probe, site) \
  STAP_PROBE2 (radio, probe, (site)->name, (site)->category)
#else
#define PROBE(probe, site) ((void) (site))
#endif

#ifdef RD_WITH_ITTNOTIFY
#include <ittnotify.h>
#include <pthread.h>

static __itt_domain *itt_domain;
static pthread_once_t itt_once = PTHREAD_ONCE_INIT;

static void
make_itt_domain (void)
{
  itt_domain = __itt_domain_create ("radio");
}

/* A cache of handles, since making one takes a lock and a search through all
 * of them.  By the site's address; where plug-ins are unloaded another site
 * may have the same one later, but a handle, which is never freed, has its own
 * name. */
#define ITT_SLOTS 256
#define ITT_TRIES 4

static _Atomic (__itt_string_handle *) itt_handles[ITT_SLOTS + ITT_TRIES];

static __itt_string_handle *
itt_handle (const struct radio_site *site)
{
  uint64_t hash = (uintptr_t) site * UINT64_C (0x9e3779b97f4a7c15);
  _Atomic (__itt_string_handle *) *slot = &itt_handles[hash >> 56];
  __itt_string_handle *handle;
  unsigned i = 0;
  for (; i < ITT_TRIES && (handle = atomic_load (&slot[i])) != NULL; i++)
    if (handle->strA && strcmp (handle->strA, site->name) == 0)
      return handle;
  handle = __itt_string_handle_create (site->name);
  atomic_store (&slot[i % ITT_TRIES], handle);
  return handle;
}

static void
itt_begin (const struct radio_site *site)
{
  pthread_once (&itt_once, make_itt_domain);
  __itt_task_begin (itt_domain, __itt_null, __itt_null, itt_handle (site));
}

#define ITT_BEGIN(site) itt_begin (site)
#define ITT_END() __itt_task_end (itt_domain)
#else
#define ITT_BEGIN(site) ((void) (site))
#define ITT_END() ((void) 0)
#endif

#ifdef RD_WITH_NVTX
#include <nvtx3/nvToolsExt.h>
#define NVTX_BEGIN(site) nvtxRangePushA ((site)->name)
#define NVTX_END() nvtxRangePop ()
#define NVTX_INSTANT(site) nvtxMarkA ((site)->name)
#else
#define NVTX_BEGIN(site) ((void) (site))
#define NVTX_END() ((void) 0)
#define NVTX_INSTANT(site) ((void) (site))
#endif

/*------------------------------------------------------------------------
 * All of them
 *----------------------------------------------------------------------*/

void
rd_tap_begin (const struct radio_site *site)
{
  rd_this_thread.is_in_tap = true;
  PROBE (scope__begin, site);
  ITT_BEGIN (site);
  NVTX_BEGIN (site);
  rd_this_thread.is_in_tap = false;
}

void
rd_tap_end (const struct rd_tap_ends *ends)
{
  rd_this_thread.is_in_tap = true;
  for (size_t i = 0; i < ends->n; i++) {
    NVTX_END ();
    ITT_END ();
    PROBE (scope__end, ends->sites[i]);
  }
  rd_this_thread.is_in_tap = false;
}

void
rd_tap_instant (const struct radio_site *site)
{
  rd_this_thread.is_in_tap = true;
  PROBE (scope__instant, site);
  NVTX_INSTANT (site);
  rd_this_thread.is_in_tap = false;
}
