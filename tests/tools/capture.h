/* SPDX-License-Identifier: MIT */
/* Output of the command, for its unit tests. */
#ifndef RD_TESTS_TOOLS_CAPTURE_H
#define RD_TESTS_TOOLS_CAPTURE_H

#include <stdio.h>

/* The text printed on stdout and stderr between the two calls. */
struct capture {
  int saved[2];
  FILE *file;
  char text[12000];
};

void capture_begin (struct capture *capture);
void capture_end (struct capture *capture);

/* Fail the test unless the text has a part, or has not. */
void assert_says (const struct capture *capture, const char *part);
void assert_says_not (const struct capture *capture, const char *part);

#endif /* RD_TESTS_TOOLS_CAPTURE_H */
