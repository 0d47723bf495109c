#!/bin/sh
# SPDX-License-Identifier: MIT
# Make configure from configure.ac, in a checkout.
set -e
cd "$(dirname "$0")"
mkdir -p m4 build-aux
autoreconf --install --force --warnings=all
