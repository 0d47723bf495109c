/* SPDX-License-Identifier: MIT */
/* The version, as configure.ac has it. */
#include <config.h>

#include <radio/base.h>

const char *
radio_version (void)
{
  return PACKAGE_VERSION;
}
