/* SPDX-License-Identifier: MIT */
/* radio: tiled 3-D volumes.  Includes every public header; programs include
 * this one. */
#ifndef RADIO_H
#define RADIO_H

#include <radio/allocator.h>
#include <radio/array.h>
#include <radio/base.h>
#include <radio/box.h>
#include <radio/calltree.h>
#include <radio/cohort.h>
#include <radio/context.h>
#include <radio/copy.h>
#include <radio/create.h>
#include <radio/csv.h>
#include <radio/dtype.h>
#include <radio/export.h>
#include <radio/index.h>
#include <radio/ingest.h>
#include <radio/layout.h>
#include <radio/pairs.h>
#include <radio/pipeline.h>
#include <radio/profile.h>
#include <radio/split.h>
#include <radio/stats.h>
#include <radio/store.h>
#include <radio/strings.h>
#include <radio/table.h>
#include <radio/volume.h>

#endif /* RADIO_H */
