/* SPDX-License-Identifier: MIT */
/* The store that the command works on, and others by their paths and URLs. */
#include <config.h>

#include "tools/interrupt.h"
#include "tools/names.h"

const char *
rd_store_name (const struct rd_args *args)
{
  if (args->store)
    return args->store;
  const char *name = getenv ("RADIO_STORE");
  return name != NULL && *name != '\0' ? name : "radio.zarr";
}

enum radio_status
rd_context_open (const struct rd_args *args, struct radio_context **context)
{
  const struct radio_context_options options = {
    .nthreads = args->nthreads,
    .memory_limit_nbytes = args->memory_nbytes,
    .cache_nbytes = args->cache_nbytes,
  };
  return radio_context_open (&options, context);
}

enum radio_status
rd_uri_open (const struct rd_args *args, const char *uri, enum rd_uri_how how,
             struct radio_store **store)
{
  struct radio_context *context;
  enum radio_status status = rd_context_open (args, &context);
  if (status != RADIO_OK)
    return status;
  struct radio_store_options options = {
    .context = context, .create = how == RD_URI_CREATE, .s3 = args->s3,
    .cancel = rd_interrupt_cancel, .any_root = how == RD_URI_ANY_ROOT,
    .generation_count = args->generations,
    .newest_tables = args->newest_tables,
    /* A validation reports all faults of tables itself. */
    .warning = how == RD_URI_ANY_ROOT ? NULL : rd_on_warning,
  };
  status = radio_store_open (uri, &options, store);
  radio_context_close (context);
  return status;
}

int
rd_store_error (const char *store)
{
  return rd_error_library (rd_is_url (store) ? NULL : store);
}

int
rd_store_open (const struct rd_args *args, bool create,
               struct radio_store **store)
{
  const char *name = rd_store_name (args);
  enum radio_status status = rd_uri_open (args, name,
                                          create ? RD_URI_CREATE
                                                 : RD_URI_EXISTING, store);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  if (status == RADIO_ERROR_NOT_FOUND && !create)
    return rd_report_no_store (args, name);
  return rd_store_error (name);
}
