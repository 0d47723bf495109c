/* SPDX-License-Identifier: MIT */
/* dataset.json, which describes the data sets of the Medical Segmentation
 * Decathlon and of nnU-Net. */
#ifndef RD_INGEST_DATASET_H
#define RD_INGEST_DATASET_H

#include <radio/layout.h>

#include "src/base/buffer.h"
#include "src/base/cleanup.h"

struct rd_dataset;

/* Reads the file.  It need not be there: then there are no names.
 * RADIO_ERROR_FORMAT names the member. */
enum radio_status rd_dataset_read (const char *file,
                                   struct rd_dataset **dataset)
  RADIO_USE_RESULT;

/* The same of its bytes; where names them in messages. */
enum radio_status rd_dataset_parse (const void *text, size_t nbytes,
                                    const char *where,
                                    struct rd_dataset **dataset)
  RADIO_USE_RESULT;

/* The labels by ascending value, each value once: of a value with several
 * names, as in nnU-Net's regions, they are joined by ", ". */
const struct radio_label *rd_dataset_labels (const struct rd_dataset *dataset,
                                             size_t *nlabels);

/* The name of a channel; NULL if it has none, or shares it with another one. */
const char *rd_dataset_channel (const struct rd_dataset *dataset,
                                uint64_t channel);

/* NULL is legal. */
void rd_dataset_free (struct rd_dataset *dataset);
RD_DEFINE_CLEANUP (dataset, struct rd_dataset, rd_dataset_free);

#endif /* RD_INGEST_DATASET_H */
