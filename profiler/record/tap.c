/* SPDX-License-Identifier: MIT */
/* What other tools are told.  A USDT probe is an instruction that does
 * nothing, and a note in the library that says where it is and where its
 * arguments are:
 *
 *   bpftrace -e 'usdt:libradio.so:radio:scope__begin { ... str (arg0) }'
 *   perf probe -x libradio.so sdt_radio:scope__begin
 */
#include <config.h>

#include "profiler/record/tap.h"

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

static void
itt_begin (const struct radio_site *site)
{
  pthread_once (&itt_once, make_itt_domain);
  __itt_task_begin (itt_domain, __itt_null, __itt_null,
                    __itt_string_handle_create (site->name));
}

static void
itt_end (void)
{
  __itt_task_end (itt_domain);
}
#else
static inline void
itt_begin (const struct radio_site *site)
{
  (void) site;
}

static inline void
itt_end (void)
{
}
#endif

#ifdef RD_WITH_NVTX
#include <nvtx3/nvToolsExt.h>

static void
nvtx_begin (const struct radio_site *site)
{
  nvtxRangePushA (site->name);
}

static void
nvtx_end (void)
{
  nvtxRangePop ();
}

static void
nvtx_instant (const struct radio_site *site)
{
  nvtxMarkA (site->name);
}
#else
static inline void
nvtx_begin (const struct radio_site *site)
{
  (void) site;
}

static inline void
nvtx_end (void)
{
}

static inline void
nvtx_instant (const struct radio_site *site)
{
  (void) site;
}
#endif

void
rd_tap_begin (const struct radio_site *site)
{
  PROBE (scope__begin, site);
  itt_begin (site);
  nvtx_begin (site);
}

void
rd_tap_end (const struct radio_site *site)
{
  nvtx_end ();
  itt_end ();
  PROBE (scope__end, site);
}

void
rd_tap_instant (const struct radio_site *site)
{
  PROBE (scope__instant, site);
  nvtx_instant (site);
}
