/* SPDX-License-Identifier: MIT */
/* Profiles as one HTML file that opens anywhere: the page of profiler/view
 * with radio's JSON as inert data inside.  The views' style and script are
 * deflated, and a small plain script inflates them.  The page forbids itself,
 * by its Content-Security-Policy, all network access and all scripts and
 * styles but its own, which are listed by their SHA-256. */
#include <config.h>

#include <string.h>
#include <time.h>

#include <openssl/evp.h>

#include "src/base/base92.h"
#include "src/base/deflate.h"
#include "src/base/digest.h"
#include "profiler/counters.h"
#include "profiler/export/html.h"
#include "profiler/export/text.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"
#include "profiler/view/page.h"

/*------------------------------------------------------------------------
 * Numbers with units, as units.mjs formats them
 *----------------------------------------------------------------------*/

/* A number of text.h, kept on one line with its unit. */
static void
write_number (struct rd_writer *writer, const char *text)
{
  const char *unit = text + strcspn (text, " ");
  rd_write_bytes (writer, text, (size_t) (unit - text));
  if (*unit == '\0')
    return;
  rd_write_text (writer, "\302\240");
  rd_write_text (writer, strcmp (unit, " us") == 0 ? "\302\265s" : unit + 1);
}

void
rd_page_write_time (struct rd_writer *writer, uint64_t ns)
{
  char text[RD_NUMBER_NBYTES];
  rd_text_ns (ns, text);
  write_number (writer, text);
}

void
rd_page_write_nbytes (struct rd_writer *writer, uint64_t nbytes)
{
  char text[RD_NUMBER_NBYTES];
  rd_text_bytes (nbytes, text);
  write_number (writer, text);
}

/*------------------------------------------------------------------------
 * The static part: readable without JavaScript, and in print
 *----------------------------------------------------------------------*/

/* Scopes in the table, and names of a path in it. */
#define TOP_NSCOPES 30
#define PATH_NNAMES 8

static void
write_part (struct rd_writer *writer, const char *text, size_t nbytes)
{
  static const char special[] = "&<>\"'";
  static const char *const entities[] = {
    "&amp;", "&lt;", "&gt;", "&quot;", "&#39;",
  };
  const char *end = text + nbytes;
  while (text < end) {
    size_t nplain = strcspn (text, special);
    if (nplain >= (size_t) (end - text)) {
      rd_write_bytes (writer, text, (size_t) (end - text));
      return;
    }
    rd_write_bytes (writer, text, nplain);
    rd_write_text (writer, entities[strchr (special, text[nplain]) - special]);
    text += nplain + 1;
  }
}

void
rd_write_html (struct rd_writer *writer, const char *text)
{
  write_part (writer, text, strlen (text));
}

/* A name from the profile, isolated so that its direction does not change that
 * of the text after it. */
static void
write_name (struct rd_writer *writer, const char *name)
{
  rd_write_text (writer, "<bdi>");
  rd_write_html (writer, name);
  rd_write_text (writer, "</bdi>");
}

/*------------------------------------------------------------------------
 * The summary
 *----------------------------------------------------------------------*/

static void
begin_row (struct rd_writer *writer, const char *name)
{
  rd_write_text (writer, "<tr><th scope=\"row\">");
  write_name (writer, name);
  rd_write_text (writer, "</th><td>");
}

static void
end_row (struct rd_writer *writer)
{
  rd_write_text (writer, "</td></tr>\n");
}

static void
write_time_row (struct rd_writer *writer, const char *name, uint64_t ns)
{
  begin_row (writer, name);
  rd_page_write_time (writer, ns);
  end_row (writer);
}

static void
write_count_row (struct rd_writer *writer, const char *name, uint64_t count)
{
  begin_row (writer, name);
  rd_write_u64 (writer, count);
  end_row (writer);
}

static void
write_summary (struct rd_writer *writer, const struct radio_profile *profile)
{
  const struct radio_profile_info *info = &profile->info;
  uint64_t span_ns = rd_profile_span_ns (profile);
  rd_write_text (writer, "<table class=\"facts\">\n");
  write_time_row (writer, "wall", info->wall_ns);
  write_time_row (writer, "work", info->work_ns);
  if (rd_profile_ran_ns (profile) < info->work_ns)
    write_time_row (writer, "work on CPUs", rd_profile_ran_ns (profile));
  if (info->starved_ns > 0)
    write_time_row (writer, "work without a CPU", info->starved_ns);
  write_time_row (writer, "wait", info->wait_ns);
  if (span_ns > 0) {
    char busy[RD_NUMBER_NBYTES];
    rd_text_multiple (rd_profile_ran_ns (profile), span_ns, busy);
    begin_row (writer, "threads busy");
    write_number (writer, busy);
    end_row (writer);
  }

  for (size_t i = 0; i < profile->counters.n; i++) {
    uint64_t sum = rd_profile_counter_sum (profile, i);
    const char *name = profile->counters.at[i].name;
    begin_row (writer, strcmp (name, rd_count_asked.name) == 0
                       ? "bytes requested" : name);
    if (strcmp (profile->counters.at[i].unit, "bytes") == 0)
      rd_page_write_nbytes (writer, sum);
    else
      rd_write_u64 (writer, sum);
    end_row (writer);
  }

  write_count_row (writer, "scopes run", info->scope_count);

  begin_row (writer, "profiler's own cost");
  uint64_t cpu_ns, ns = rd_profile_recording_ns (profile, &cpu_ns);
  rd_page_write_time (writer, rd_sum (info->overhead_ns,
                                      rd_profile_number (profile,
                                                         RD_FACT_OWN_NS)));
  double share = cpu_ns > 0 ? (double) ns / (double) cpu_ns : 0;
  unsigned tenths = (unsigned) (share * 1000 + 0.5);
  rd_write_format (writer, ", %u.%u\302\240%% of %s", tenths / 10,
                   tenths % 10,
                   cpu_ns == info->work_ns ? "work" : "CPU time");
  end_row (writer);

  if (info->dropped_count > 0)
    write_count_row (writer, "not in the timeline", info->dropped_count);
  rd_write_text (writer, "</table>\n");
}

/*------------------------------------------------------------------------
 * Findings and scopes
 *----------------------------------------------------------------------*/

static void
write_findings (struct rd_writer *writer, const struct radio_profile *profile)
{
  if (profile->findings.n == 0)
    return;
  rd_write_text (writer, "<h2>Findings</h2>\n<ul>\n");
  for (size_t i = 0; i < profile->findings.n; i++) {
    const struct radio_finding *finding = &profile->findings.at[i];
    rd_write_format (writer, "<li>%s: <b>",
                     finding->weight == RADIO_FINDING_PROBLEM ? "Problem"
                     : finding->weight == RADIO_FINDING_HINT  ? "Hint"
                                                              : "Note");
    write_name (writer, finding->title);
    rd_write_text (writer, "</b> ");

    /* Spell microseconds as the page does elsewhere. */
    const char *text = finding->evidence;
    rd_write_text (writer, "<bdi>");
    for (const char *at = text; (at = strstr (at, " us")) != NULL; at += 3)
      if (at > text && at[-1] >= '0' && at[-1] <= '9'
          && strchr (" ,.;:)", at[3]) != NULL) {
        write_part (writer, text, (size_t) (at - text));
        rd_write_text (writer, "\302\240\302\265s");
        text = at + 3;
      }
    rd_write_html (writer, text);
    rd_write_text (writer, "</bdi>");

    rd_write_text (writer, "</li>\n");
  }
  rd_write_text (writer, "</ul>\n");
}

static void
write_scope (struct rd_writer *writer, const struct radio_profile *profile,
             size_t i)
{
  const struct radio_profile_node *node = &profile->nodes.at[i];
  rd_write_text (writer, "<tr><th scope=\"row\">");

  /* "read > tiles > decode"; of a deep path its end. */
  size_t path[PATH_NNAMES], n = 0, at = i;
  for (; at != RADIO_NO_PARENT && n < PATH_NNAMES;
       at = profile->nodes.at[at].parent)
    path[n++] = at;
  if (at != RADIO_NO_PARENT)
    rd_write_text (writer, "\342\200\246 \342\200\272 ");
  while (n-- > 0) {
    write_name (writer, profile->nodes.at[path[n]].name);
    if (n > 0)
      rd_write_text (writer, " \342\200\272 ");
  }

  rd_write_text (writer, "</th>");
  const uint64_t times[] = {
    node->total_ns, node->self_ns, node->work_ns, node->wait_ns,
  };
  for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) {
    rd_write_text (writer, "<td>");
    rd_page_write_time (writer, times[k]);
    rd_write_text (writer, "</td>");
  }
  rd_write_text (writer, "<td>");
  rd_write_u64 (writer, node->calls);
  rd_write_text (writer, "</td><td>");
  rd_page_write_time (writer,
                      node->calls > 0 ? node->total_ns / node->calls : 0);
  rd_write_text (writer, "</td></tr>\n");
}

static void
write_scopes (struct rd_writer *writer, const struct radio_profile *profile)
{
  size_t top[TOP_NSCOPES];
  /* Sort the nodes with the most self time into top[]. */
  size_t n = 0;
  for (size_t node = 0; node < profile->nodes.n; node++) {
    uint64_t self = profile->nodes.at[node].self_ns;
    size_t at = n < TOP_NSCOPES ? n++ : TOP_NSCOPES;
    while (at > 0 && profile->nodes.at[top[at - 1]].self_ns < self) {
      if (at < TOP_NSCOPES)
        top[at] = top[at - 1];
      at--;
    }
    if (at < TOP_NSCOPES)
      top[at] = node;
  }
  rd_write_text (writer,
                 "<h2>Scopes with the most self time</h2>\n"
                 "<div class=\"wide\" tabindex=\"0\">"
                 "<table class=\"scopes\">\n<thead><tr>"
                 "<th scope=\"col\">scope</th><th scope=\"col\">total</th>"
                 "<th scope=\"col\">self</th><th scope=\"col\">work</th>"
                 "<th scope=\"col\">wait</th><th scope=\"col\">calls</th>"
                 "<th scope=\"col\">mean</th></tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < n; i++)
    write_scope (writer, profile, top[i]);
  rd_write_text (writer, "</tbody>\n</table></div>\n");
  if (n < profile->nodes.n)
    rd_write_format (writer, "<p>%zu of %zu scopes.</p>\n", n,
                     profile->nodes.n);
}

static void
write_static (struct rd_writer *writer, const struct radio_profile *profile)
{
  const struct radio_profile_info *info = &profile->info;
  rd_write_text (writer, "<h1>");
  write_name (writer, info->title);
  rd_write_text (writer, "</h1>\n<p>");
  write_name (writer, info->program);
  time_t seconds = (time_t) (info->started_unix_ns / 1000000000);
  struct tm utc;
  if (seconds > 0 && gmtime_r (&seconds, &utc) != NULL)
    rd_write_format (writer, " \302\267 %04d-%02d-%02d %02d:%02d:%02d UTC",
                     utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
  rd_write_text (writer, " \302\267 written by radio " PACKAGE_VERSION
                         "</p>\n");

  write_findings (writer, profile);
  write_summary (writer, profile);
  write_scopes (writer, profile);
  rd_write_text (writer,
                 "<p><b>total</b> is the time from begin to end, "
                 "<b>self</b> what no scope inside accounts for, "
                 "<b>work</b> and <b>wait</b> are the thread's running and "
                 "waiting in the scope itself.</p>\n");

  if (profile->facts.n == 0)
    return;
  rd_write_text (writer, "<h2>Recording</h2>\n<table class=\"facts\">\n");
  for (size_t i = 0; i < profile->facts.n; i++) {
    begin_row (writer, profile->facts.at[i].key);
    write_name (writer, profile->facts.at[i].value);
    end_row (writer);
  }
  rd_write_text (writer, "</table>\n");
}

/*------------------------------------------------------------------------
 * The page
 *----------------------------------------------------------------------*/

/* The first one that looks for the best way to cut the script into matches:
 * 4 % smaller than level 9. */
#define LEVEL 12

/* A SHA-256 in base64, and its NUL. */
#define DIGEST_NBYTES (4 * 11 + 1)

/* Placeholders of the template. */
enum slot {
  SLOT_POLICY, SLOT_VERSION, SLOT_TITLE, SLOT_STYLE, SLOT_VIEW_STYLE,
  SLOT_SCRIPT, SLOT_LOADER, SLOT_STATIC, SLOT_CURVE, SLOT_NBYTES, SLOT_DATA,
  SLOT_BEFORE,
  NSLOTS
};

static const char *const slot_names[NSLOTS] = {
  "@POLICY@", "@VERSION@", "@TITLE@", "@STYLE@", "@VIEW_STYLE@", "@SCRIPT@",
  "@LOADER@", "@STATIC@", "@CURVE@", "@NBYTES@", "@DATA@", "@BEFORE@",
};

static enum radio_status
write_source (struct rd_writer *writer, const char *text)
{
  char sha256[DIGEST_NBYTES];

  unsigned char digest[32];
  unsigned nbytes = sizeof digest;
  if (!rd_digest_sha256 ()
      || !EVP_Digest (text, strlen (text), digest, &nbytes,
                      rd_digest_sha256 (), NULL))
    return rd_fail (RADIO_ERROR_MEMORY, "cannot compute a SHA-256");
  EVP_EncodeBlock ((unsigned char *) sha256, digest, (int) nbytes);

  rd_write_format (writer, " 'sha256-%s'", sha256);
  return RADIO_OK;
}

/* Text for loader.js to inflate. */
static enum radio_status
write_packed (struct rd_writer *writer, const char *text)
{
  RD_BUFFER_SCOPE struct rd_buffer packed = { 0 }, base92 = { 0 };
  RD_TRY (rd_deflate (text, strlen (text), LEVEL, &packed));
  RD_TRY (rd_base92_encode (packed.data, packed.nbytes, &base92));
  rd_write_bytes (writer, base92.data, base92.nbytes);
  return RADIO_OK;
}

static enum radio_status
append (const void *data, size_t nbytes, void *user_data)
{
  return rd_buffer_append (user_data, data, nbytes);
}

/* A profile as JSON. */
static enum radio_status
make_data (const struct radio_profile *profile, struct rd_buffer *data)
{
  const struct radio_profile_write_options options = {
    .format = RADIO_PROFILE_JSON,
  };
  struct rd_writer writer;
  rd_writer_init (&writer, append, data);
  RD_TRY (rd_export_json (profile, &options, &writer));
  return rd_writer_end (&writer);
}

/* The contents of a page.  The data are made before the page begins, with their
 * size. */
struct contents {
  const struct radio_profile *profile;
  struct rd_buffer data, before;        /* before: empty without one */
};

static void
free_contents (struct contents *contents)
{
  rd_buffer_free (&contents->data);
  rd_buffer_free (&contents->before);
}

static enum radio_status
fill_slot (enum slot slot, const struct contents *contents,
           struct rd_writer *writer)
{
  const struct radio_profile *profile = contents->profile;
  switch (slot) {
  case SLOT_POLICY:
    rd_write_text (writer, "default-src 'none'; img-src data:; style-src");
    RD_TRY (write_source (writer, rd_page_style));
    RD_TRY (write_source (writer, rd_page_view_style));
    rd_write_text (writer, "; script-src");
    RD_TRY (write_source (writer, rd_page_loader));
    RD_TRY (write_source (writer, rd_page_script));
    rd_write_text (writer, "; base-uri 'none'; form-action 'none'");
    break;
  case SLOT_VERSION:
    rd_write_text (writer, PACKAGE_VERSION);
    break;
  case SLOT_TITLE:
    rd_write_html (writer, profile->info.title);
    rd_write_text (writer, " - radio profile");
    break;
  case SLOT_STYLE:
    rd_write_text (writer, rd_page_style);
    break;
  case SLOT_VIEW_STYLE:
    return write_packed (writer, rd_page_view_style);
  case SLOT_SCRIPT:
    return write_packed (writer, rd_page_script);
  case SLOT_LOADER:
    rd_write_text (writer, rd_page_loader);
    break;
  case SLOT_STATIC:
    write_static (writer, profile);
    break;
  case SLOT_CURVE:            /* outside the parts that a script hides */
    return rd_page_write_curve (writer, profile);
  case SLOT_NBYTES:
    rd_write_u64 (writer, contents->data.nbytes + contents->before.nbytes);
    break;
  case SLOT_DATA:
    rd_write_bytes (writer, contents->data.data, contents->data.nbytes);
    break;
  case SLOT_BEFORE:
    /* Under another id than the profile's, so that readers find that one. */
    if (contents->before.nbytes == 0)
      break;
    rd_write_text (writer, "<script type=\"application/json\" "
                   "id=\"radio-before\">");
    rd_write_bytes (writer, contents->before.data, contents->before.nbytes);
    rd_write_text (writer, "</script>\n");
    break;
  case NSLOTS:
    break;
  }
  return RADIO_OK;
}

enum radio_status
rd_export_html (const struct radio_profile *profile,
                const struct radio_profile_write_options *options,
                struct rd_writer *writer)
{
  const char *text = rd_page_template;
  RD_CLEANUP (free_contents) struct contents contents = {
    .profile = profile
  };
  RD_TRY (make_data (profile, &contents.data));
  if (options->before)
    RD_TRY (make_data (options->before, &contents.before));
  while (*text != '\0') {
    size_t nplain = strcspn (text, "@");
    rd_write_bytes (writer, text, nplain);
    text += nplain;
    unsigned slot = 0;
    while (slot < NSLOTS
           && strncmp (text, slot_names[slot], strlen (slot_names[slot])) != 0)
      slot++;
    if (slot < NSLOTS) {
      RD_TRY (fill_slot ((enum slot) slot, &contents, writer));
      text += strlen (slot_names[slot]);
    }
    else if (*text != '\0') {
      rd_write_bytes (writer, text++, 1);
    }
  }
  return writer->status;
}
