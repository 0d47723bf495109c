# SPDX-License-Identifier: MIT
"""Records the build that prepared each store, so that results are continued
where the inputs are the same, and renamed where they are not.

The record is a file in the folder, with a dictionary of texts, an identity,
for each kind of results.  Nothing is deleted.
"""

import hashlib
import json
import re
import subprocess

PROGRAMS = [".libs/libradio.so", "tools/.libs/radio", "tools/radio"]


def build_of(build):
    """Returns a digest of the programs that are measured."""
    digest = hashlib.sha256()
    for name in PROGRAMS:
        if (build / name).exists():
            digest.update((build / name).read_bytes())
    return digest.hexdigest()[:16]


def commit_of(build):
    """Returns the commit of the source that a build was configured from; None
    without a repository or git."""
    makefile = build / "Makefile"
    text = makefile.read_text(encoding="utf-8") if makefile.exists() else ""
    source = re.search(r"^abs_top_srcdir = (.*)$", text, re.MULTILINE)
    if source is None:
        return None
    try:
        done = subprocess.run(
            ["git", "-C", source[1], "describe", "--always", "--dirty"],
            capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


class Prepared:
    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "prepared.json"
        self.known = {}
        if self.path.exists():
            self.known = json.loads(self.path.read_text(encoding="utf-8"))

    def write(self):
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(self.known, indent=1), encoding="utf-8")
        beside.rename(self.path)

    def is_made(self, name, build):
        """Returns whether something was completed by this build."""
        return self.known.get("made", {}).get(name) == build

    def made(self, name, build):
        self.known.setdefault("made", {})[name] = build
        self.write()

    def is_of(self, kind, **identity):
        """Returns whether the recorded identity matches, as far as it is
        known."""
        known = self.known.get(kind, {})
        return all(known.get(name, value) == value
                   for name, value in identity.items())

    def update(self, kind, identity, results):
        """Renames the results if a known part of their identity has
        changed; new parts leave them in place."""
        before = self.known.get(kind, {})
        changed = [name for name, value in before.items()
                   if identity.get(name, value) != value]
        if results.exists() and (changed or not before):
            why = ", ".join(changed) or "their identity is not known"
            print(f"bench-peers: the results of {kind} go to "
                  f"{self.rename(results)}: {why}")
            before = {}
        self.known[kind] = {**before, **identity}
        self.write()

    @staticmethod
    def rename(results):
        """Renames the results to the first free name."""
        number = 1
        while (aside := results.with_name(
                f"{results.stem}-old{number}.jsonl")).exists():
            number += 1
        results.rename(aside)
        return aside
