# SPDX-License-Identifier: MIT
"""Builds libradio._native: the functions of the installed libradio.

The declarations are those of <radio/radio.h> as the preprocessor delivers
them, so none is written a second time.  pkg-config, or the
command $PKG_CONFIG, finds the library; the compiler is $CC, or cc.
"""
import os
import re
import shlex
import subprocess
from pathlib import Path

from cffi import FFI


def run(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def pkg_config(option):
    tool = shlex.split(os.environ.get("PKG_CONFIG", "pkg-config"))
    try:
        return shlex.split(run(*tool, option, "libradio"))
    except FileNotFoundError:
        raise SystemExit(f"{tool[0]}: not found; install pkg-config") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit("libradio: not found by pkg-config; install it, or"
                         " name the folder of its libradio.pc in"
                         f" PKG_CONFIG_PATH\n{error.stderr}") from None


def preprocess(cflags):
    """Returns the preprocessed headers of radio's, and their paths."""
    # Without __GNUC__ the headers have no attributes, which cffi cannot read.
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, "-E", "-U__GNUC__", *cflags, "-"]
    text = subprocess.run(command, check=True, capture_output=True, text=True,
                          input="#include <radio/radio.h>\n").stdout
    lines, paths, is_ours = [], [], False
    for line in text.splitlines():
        if mark := re.match(r'# \d+ "([^"]*)"', line):
            is_ours = Path(mark[1]).parent.name == "radio"
            if is_ours and mark[1] not in paths:
                paths.append(mark[1])
        elif is_ours:
            lines.append(line)
    return "\n".join(lines), paths


def declarations(text):
    """Leaves out the bodies of inline functions, which cffi cannot read."""
    return re.sub(r"^static\s+inline\b.*?^}", "", text,
                  flags=re.DOTALL | re.MULTILINE)


def constants(headers):
    """Returns the names of numbers that the headers #define."""
    return re.findall(r"^#define (RADIO_[A-Z0-9_]+) +[A-Z0-9_]+$", headers,
                      flags=re.MULTILINE)


def wrappers(headers):
    """Returns the names of macros that hide a function's last argument."""
    return re.findall(r"^#define (radio_[a-z0-9_]+)\(", headers,
                      flags=re.MULTILINE)


# What Python adds: see native.c.
CALLBACKS = """
struct python_call {
  bool lacks_memory;
  char *text;
  struct radio_volume *volume;
  struct radio_pipeline *pipeline;
  uint64_t *bins;
  size_t nbins;
  ...;
};
bool python_cancel (void *user_data);
bool python_is_stopped (void *user_data);
void python_line (const char *message, void *user_data);
enum radio_status python_bytes (const void *data, size_t nbytes,
                                void *user_data);
enum radio_status python_entry (const struct radio_entry *entry,
                                void *user_data);
enum radio_status python_progress (const struct radio_progress *progress,
                                   void *user_data);
enum radio_status python_open_volume (size_t i, struct radio_volume **volume,
                                      struct radio_volume **mask,
                                      void *user_data);
enum radio_status
python_copy_bins (const struct radio_group_figures *figures, void *user_data);
void python_get_progress (struct python_call *call, uint64_t *done_nbytes,
                          uint64_t *total_nbytes);
void python_stop (struct python_call *call);
char *python_take (struct python_call *call, size_t *nbytes);
void python_clear (struct python_call *call);
enum radio_status python_stop_recorder (struct radio_recorder **recorder,
                                        struct radio_profile **profile);
enum radio_status python_commit_volume (struct radio_writer **writer);
void python_free (void *block);
extern "Python" bool python_check_signals (void);
"""


def link():
    """Returns the compiler's and linker's options for the library."""
    folders = [word[2:] for word in pkg_config("--libs-only-L")]
    return dict(
        libraries=["radio"],
        extra_compile_args=pkg_config("--cflags"),
        library_dirs=folders,
        # pkg-config has no -L for what the loader finds by itself.
        runtime_library_dirs=folders and pkg_config("--variable=libdir"))


def make_ffi():
    text, paths = preprocess(pkg_config("--cflags"))
    headers = "\n".join(Path(path).read_text() for path in paths)
    ffi = FFI()
    ffi.cdef("".join(f"#define {name} ...\n" for name in constants(headers))
             + declarations(text))
    ffi.cdef(CALLBACKS)
    undefs = "".join(f"#undef {name}\n" for name in wrappers(headers))
    ffi.set_source(
        "libradio._native",
        "#include <radio/radio.h>\n" + undefs
        + Path("native.c").read_text(), **link())
    return ffi


ffi = make_ffi()
