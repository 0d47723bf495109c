/* SPDX-License-Identifier: MIT */
/* Statements that must be unrolled, whatever the compiler would choose: a macro
 * of a number, for 0 and those that follow. */
#ifndef RD_EACH_H
#define RD_EACH_H

#define EACH_1(statement) statement (0)
#define EACH_2(statement) EACH_1 (statement) statement (1)
#define EACH_4(statement) EACH_2 (statement) statement (2) statement (3)
#define EACH_8(statement) EACH_4 (statement) statement (4) statement (5) \
  statement (6) statement (7)
#define EACH_16(statement) EACH_8 (statement) statement (8) statement (9) \
  statement (10) statement (11) statement (12) statement (13) \
  statement (14) statement (15)

#endif /* RD_EACH_H */
