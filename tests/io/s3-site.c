/* SPDX-License-Identifier: MIT */
/* The scripted server as an endpoint of S3. */
#include <config.h>

#include "tests/io/s3-site.h"

static const struct rd_http_options hasty = {
  .nattempts = S3_NATTEMPTS, .first_byte_timeout_ms = 60000,
  .stall_timeout_ms = 60000, .backoff_ms = 1, .nconnections = 4,
};

/* A token that is new each time. */
static enum radio_status
find_credentials (void *data, struct rd_s3_credentials **credentials)
{
  struct s3_site *site = data;
  char token[32];
  if (site->find_status != RADIO_OK)
    return rd_fail (site->find_status, "the service: answered with status "
                    "404");
  const char *key = site->access_key;
  snprintf (token, sizeof token, "token-%u", ++site->nfound);
  return rd_s3_credentials_new (key, key ? S3_SECRET_KEY : NULL,
                                key ? token : NULL, 0, credentials);
}

void
s3_site_open (struct s3_site *site, const char *access_key, bool single_writer)
{
  const struct rd_s3_settings none = { 0 };
  char endpoint[128];
  /* "http://127.0.0.1:PORT/data" */
  snprintf (endpoint, sizeof endpoint, "%s", http_peer_url (site->peer));
  *strrchr (endpoint, '/') = '\0';
  site->access_key = access_key;
  struct rd_s3_options options = {
    .endpoint = endpoint, .provider.settings = &none,
    .provider.find = find_credentials, .provider.data = site,
    .single_writer = single_writer, .http = hasty,
  };
  options.http.hedge_percent = site->hedge_percent;
  rd_io_close (site->io);
  assert_ok (rd_io_open_with ("s3://bucket/st", false, &options, &site->io));
}

int
s3_site_set_up (void **state)
{
  struct s3_site *site = calloc (1, sizeof *site);
  assert_non_null (site);
  assert_ok (rd_io_open ("memory:", false, &site->objects));
  site->peer = http_peer_start (site->objects);
  s3_site_open (site, S3_ACCESS_KEY, false);
  *state = site;
  return 0;
}

/* The server may still be sending the last of them: they are freed when it
 * has stopped. */
void
s3_site_forget (struct s3_site *site)
{
  http_peer_say (site->peer, NULL, 0);
  site->nold += site->n;
  site->n = 0;
}

static void
add_answer (struct s3_site *site, char *answer)
{
  assert_true (site->nold + site->n < S3_MAX_ANSWERS);
  site->answers[site->nold + site->n++] = answer;
  http_peer_say (site->peer,
                 (const char *const *) site->answers + site->nold, site->n);
}

int
s3_site_tear_down (void **state)
{
  struct s3_site *site = *state;
  rd_io_close (site->io);
  http_peer_stop (site->peer);
  site->peer = NULL;
  for (size_t i = 0; i < site->nold + site->n; i++)
    free (site->answers[i]);
  rd_io_close (site->objects);
  free (site);
  return 0;
}

/*------------------------------------------------------------------------
 * Answers
 *----------------------------------------------------------------------*/

void
s3_say (struct s3_site *site, const char *status, const char *headers,
     const char *body)
{
  size_t room = strlen (status) + strlen (headers) + strlen (body) + 128;
  char *answer = malloc (room);
  assert_non_null (answer);
  snprintf (answer, room, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n%s",
            status, headers, strlen (body), body);
  add_answer (site, answer);
}

/* Closes the connection without an answer. */
void
s3_say_nothing (struct s3_site *site)
{
  add_answer (site, NULL);
}

/* To HEAD: the length is the object's. */
void
s3_say_head (struct s3_site *site, const char *headers, unsigned nbytes)
{
  char text[512];
  snprintf (text, sizeof text, "HTTP/1.1 200 OK\r\n%sContent-Length: %u\r\n"
            "\r\n", headers, nbytes);
  add_answer (site, strdup (text));
}

void
s3_say_error (struct s3_site *site, const char *status, const char *headers,
           const char *code)
{
  char body[512];
  snprintf (body, sizeof body, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<Error><Code>%s</Code><Message>" S3_SECRET_KEY "</Message>"
            "</Error>", code);
  s3_say (site, status, headers, body);
}

void
s3_assert_heard (struct s3_site *site, size_t i, const char *part)
{
  const char *head = http_peer_head (site->peer, i);
  assert_non_null (head);
  if (!strcasestr (head, part))
    fail_msg ("'%s' is not in\n%s", part, head);
}

void
s3_assert_unheard (struct s3_site *site, size_t i, const char *part)
{
  const char *head = http_peer_head (site->peer, i);
  assert_non_null (head);
  assert_null (strcasestr (head, part));
}

void
s3_assert_all_sent (struct s3_site *site)
{
  assert_true (http_peer_has_sent_all (site->peer));
  assert_null (http_peer_head (site->peer, site->n));
}
