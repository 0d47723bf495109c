/* SPDX-License-Identifier: MIT */
/* Which scope a failure began in.  When a message is made, nobody knows yet
 * whether the operation will live with it: the innermost scope is kept in
 * mind, and marked if the operation around it fails of the same. */
#include <config.h>

#include "src/base/error.h"
#include "profiler/counters.h"
#include "profiler/record/record.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

static struct rd_writer_state *
enter_current (void)
{
  struct rd_writer_state *writer = rd_this_thread.current;
  return writer && rd_writer_enter (writer) ? writer : NULL;
}

/* Whether the scope in mind failed so within the innermost one, which began
 * before it. */
static bool
is_within (const struct rd_writer_state *writer, enum radio_status status)
{
  return writer->failure.status == status
         && writer->failure.sequence > rd_frame_sequence (writer->top);
}

void
rd_record_failed (enum radio_status status, bool is_again)
{
  struct rd_writer_state *writer = enter_current ();
  if (!writer)
    return;
  if (!is_again || !is_within (writer, status)) {
    writer->failure.status = status;
    writer->failure.sequence = rd_frame_sequence (writer->top);
    writer->failure.node = writer->top->node;
  }
  rd_writer_leave (writer);
}

/* The node's figures, and the span's text if the log has the span. */
static void
mark (struct rd_writer_state *writer, const char *why)
{
  struct rd_node *node = writer->failure.node;
  const struct rd_log_text text = {
    .sequence = writer->failure.sequence,
    .kind = RADIO_TEXT_PLAIN,
    .key = RD_NOTE_FAILED,
  };
  rd_node_count (node, &rd_count_failures, 1, 0);
  rd_texts_add (&writer->texts, node, !writer->recorder->tree_only, &text,
                why);
}

void
rd_record_failed_within (enum radio_status status)
{
  struct rd_writer_state *writer = enter_current ();
  if (!writer)
    return;
  if (writer->failure.node && is_within (writer, status))
    mark (writer, radio_status_name (status));
  writer->failure.node = NULL;
  writer->failure.status = RADIO_OK;
  rd_writer_leave (writer);
}
