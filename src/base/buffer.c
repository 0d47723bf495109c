/* SPDX-License-Identifier: MIT */
/* The growable run of bytes. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/buffer.h"
#include "src/base/checked.h"
#include "src/base/error.h"

enum radio_status
rd_buffer_reserve (struct rd_buffer *buffer, size_t nbytes)
{
  if (nbytes <= buffer->capacity)
    return RADIO_OK;
  unsigned char *data = rd_realloc (buffer->data, nbytes);
  if (data == NULL)
    return rd_fail_memory (nbytes);
  buffer->data = data;
  buffer->capacity = nbytes;
  return RADIO_OK;
}

enum radio_status
rd_buffer_append (struct rd_buffer *buffer, const void *data, size_t nbytes)
{
  if (nbytes == 0)
    return RADIO_OK;
  uint64_t needed;
  if (rd_add_overflows (buffer->nbytes, nbytes, &needed)
      || needed > SIZE_MAX / 2)
    return rd_fail_memory (SIZE_MAX);
  if (needed > buffer->capacity)
    RD_TRY (rd_buffer_reserve (
      buffer, rd_max_u64 (needed, buffer->capacity / 2 * 3)));
  memcpy (buffer->data + buffer->nbytes, data, nbytes);
  buffer->nbytes = needed;
  return RADIO_OK;
}

void
rd_buffer_free (struct rd_buffer *buffer)
{
  rd_free (buffer->data);
  *buffer = (struct rd_buffer) { 0 };
}
