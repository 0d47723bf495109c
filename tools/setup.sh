# SPDX-License-Identifier: MIT
# What the set-up scripts share; sourced in the checkout, whose path is $root,
# not run.  Says which packages are needed, installs those that are missing,
# and configures a build folder.

# Building: the tools, then the libraries (see configure.ac for why each).
BUILD_PACKAGES="gcc make autoconf automake libtool pkg-config
libzstd-dev liblz4-dev libblosc-dev libisal-dev libdeflate-dev libjson-c-dev
libssl-dev libcurl4-openssl-dev libexpat1-dev libpng-dev"
# The Python package's wheel, besides those.
WHEEL_PACKAGES="cmake dpkg-dev libsnappy-dev nasm python3-dev python3-venv
zlib1g-dev"
# Real images to try it on.
DATA_PACKAGES="mricron-data invesalius-examples"
# Testing.
CHECK_PACKAGES="abigail-tools ceph-common ceph-mon ceph-osd clang libcmocka-dev python3
python3-dev python3-venv g++ git groff haproxy locales nginx-light openssl radosgw systemtap-sdt-dev
time xz-utils zsh"

# One of them: a head CT, which is in a gzipped tar.
CRANIUM=/usr/share/doc/invesalius-examples/examples/Cranium.inv3

# The versions of npm packages: speedscope's application, which reads our
# profiles, axe, which checks the accessibility of our page, and pyright, which
# checks the types of the Python package.
SPEEDSCOPE=1.25.0
AXE=4.14.1
PYRIGHT=1.1.414

# The crate that has Intel's header of the tap for VTune, and its SHA-256.
ITTAPI=ittapi-sys-0.4.0
ITTAPI_SHA256=52f5385394064fa2c886205dba02598013ce83d3e92d33dbdc0c52fe0e7bf4fc

say () {
  printf '%s\n' "$*"
}

die () {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# The packages of the arguments that are not installed.
missing_packages () {
  for package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
      grep -q 'ok installed' || printf '%s ' "$package"
  done
}

# The packages of the programs that read profiles besides us, as far as the
# programs are missing: a browser for speedscope and Perfetto, node to drive
# it, go for its pprof.
reader_packages () {
  command -v chromium >/dev/null || command -v google-chrome >/dev/null ||
    printf 'chromium '
  command -v node >/dev/null || printf 'nodejs '
  command -v npm >/dev/null || printf 'npm '
  command -v go >/dev/null || printf 'golang-go '
}

as_root () {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

# Autoconf and make refuse such folders, with a message that does not help.
case $root in
  *[!-a-zA-Z0-9_./+,%@:]*)
    die "'$root' cannot be built in: autotools take no blanks or special" \
      "characters in a path.  Move the checkout to one without them."
    ;;
esac

# install_packages LOG PACKAGE...
install_packages () {
  log=$1
  shift
  if ! command -v apt-get >/dev/null; then
    say "Not Debian or Ubuntu: nothing is installed.  Needed are the"
    say "libraries zstd, lz4, c-blosc, ISA-L, libdeflate, json-c, OpenSSL"
    say "and libpng with their headers, autotools, and a C compiler."
    return 0
  fi
  missing=$(missing_packages "$@")
  if [ -z "$missing" ]; then
    return 0
  fi
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    die "packages are missing, and only root may install them (there is no" \
      "sudo either).  As root: apt-get install $missing"
  fi
  say "Installing: $missing"
  as_root apt-get -qq update >"$log" 2>&1 || :
  # shellcheck disable=SC2086 # a list of names
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
    --no-install-recommends $missing >>"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; die "apt-get install failed: see $log"; }
}

# The shell of configure, make and libtool: unasked configure takes bash, by
# which libtool needs twice the time to link a program.
CONFIG_SHELL=${CONFIG_SHELL-$(command -v dash || command -v sh)}
export CONFIG_SHELL

# configure_in FOLDER [OPTION...], in the checkout's root; only when needed.
configure_in () {
  build_folder=$1
  shift
  mkdir -p "$build_folder"
  [ configure -nt configure.ac ] || ./autogen.sh
  if [ ! -f "$build_folder/Makefile" ]; then
    (cd "$build_folder" && "$root/configure" -q "$@")
  fi
}

ncpus () {
  getconf _NPROCESSORS_ONLN
}

# build_bench [TARGET...], in the checkout's root: makes targets in the folder
# $build; if that is empty, all of radio in build/bench first.
build_bench () {
  if [ -z "$build" ]; then
    build=build/bench
    configure_in "$build"
    make -C "$build" -j"$(ncpus)" -s
  fi
  [ $# -eq 0 ] || make -C "$build" -s "$@"
}

# get_npm FOLDER PACKAGE@VERSION...: unless they are there.
get_npm () (
  to=$1
  shift
  for wanted; do
    grep -qs "\"version\": \"${wanted##*@}\"" \
      "$to/node_modules/${wanted%@*}/package.json" ||
      exec npm install --silent --prefix "$to" --no-save --ignore-scripts \
        --no-audit --no-fund "$@"
  done
)

# build_package BUILD PYTHON: the Python package's sdist, and the wheel that pip
# makes of it for the library of the folder BUILD, which is installed below
# BUILD/python, as they are.  PYTHON has the package "build".
build_package () {
  made=$(cd "$1" && pwd)/python
  rm -rf "$made"
  mkdir -p "$made"
  make -s -C "$1" DESTDIR="$made/installed" install-data \
    install-libLTLIBRARIES >"$made/log" 2>&1 &&
    cp -R -L tools/python "$made/source" && chmod -R u+w "$made/source" ||
    { tail -n 20 "$made/log" >&2; die "the library cannot be installed"; }
  pc=$(find "$made/installed" -name libradio.pc)
  prefix=$made/installed$(sed -n 's/^prefix=//p' "$pc")
  # It is not there that it was configured to be.
  (PKG_CONFIG="pkg-config --define-variable=prefix=$prefix"
   PKG_CONFIG_PATH=$(dirname "$pc")
   CC=$(sed -n 's/^CC = //p' "$1/Makefile")
   # A library with sanitizers has them in its modules, too.
   CFLAGS="${CFLAGS-} $(sed -n 's/^SANITIZER_CFLAGS = //p' "$1/Makefile")"
   export PKG_CONFIG PKG_CONFIG_PATH CC CFLAGS
   "$2" -m build --sdist --outdir "$made" "$made/source" >>"$made/log" 2>&1 &&
     "$2" -m pip wheel --disable-pip-version-check --no-deps \
       --wheel-dir="$made" "$made"/libradio-*.tar.gz >>"$made/log" 2>&1) ||
    { tail -n 20 "$made/log" >&2; die "the package cannot be built"; }
}

# cohort_peers FOLDER: installs what cohorts are compared with into
# FOLDER/venv-cohorts.
cohort_peers () {
  [ -x "$1/venv-cohorts/bin/python" ] || python3 -m venv "$1/venv-cohorts"
  "$1/venv-cohorts/bin/pip" -q install --disable-pip-version-check \
    -r tools/peers/requirements-cohorts.txt
}

# describe_rounds N: the lines above a table of medians.
describe_rounds () {
  cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null |
    head -n 1)
  load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)
  echo "${cpu:-a processor}, $(ncpus) processors, $1 rounds, load $load" \
    "when they began; median (half of the rounds)."
  echo
}

# head_ct FILE.nii.  It lies in the tar as bare int16; it is mirrored from the
# usual order of DICOM, so its rows rise to the front.
head_ct () {
  tar -xzOf "$CRANIUM" --wildcards '*/matrix.dat' |
    sh tools/raw2nii.sh 256,256,108 0.957,0.957,1.5 LAS \
      "Head CT of invesalius-examples" >"$1"
}

# put_table NAME TABLE PAGE: replaces what is between a page's markers by a
# file; through $tmp.
put_table () {
  awk -v name="$1" -v table="$2" '
    index ($0, name ": end") { skip = 0 }
    !skip { print }
    index ($0, name ": begin") {
      skip = 1
      print ""
      while ((getline line < table) > 0) print line
      print ""
    }' "$3" >"$tmp/page"
  cp "$tmp/page" "$3"
}
