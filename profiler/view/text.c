/* SPDX-License-Identifier: MIT */
/* The page's sources as strings; the file included is made by embed.awk. */
#include <config.h>

#include "profiler/view/page.h"

#include "profiler/view/page-text.inc"
