# SPDX-License-Identifier: MIT
"""What was prepared, by which build: so that results are gone on with where
they are of the same, and put aside where they are not.

It is written down in the folder, a dictionary of texts for each kind of
results: an identity.  Nothing is thrown away.
"""

import hashlib
import json
import re
import subprocess

PROGRAMS = [".libs/libradio.so.0", "tools/.libs/radio", "tools/radio"]


def build_of(build):
    """A digest of what is measured of radio."""
    digest = hashlib.sha256()
    for name in PROGRAMS:
        if (build / name).exists():
            digest.update((build / name).read_bytes())
    return digest.hexdigest()[:16]


def commit_of(build):
    """Of the source that a build was configured from; None where there is
    no repository, or no git."""
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
        """Whether something was made whole, by this build."""
        return self.known.get("made", {}).get(name) == build

    def made(self, name, build):
        self.known.setdefault("made", {})[name] = build
        self.write()

    def is_of(self, kind, **identity):
        """Whether what was prepared is so, as far as is known."""
        known = self.known.get(kind, {})
        return all(known.get(name, value) == value
                   for name, value in identity.items())

    def settle(self, kind, identity, results):
        """The results go aside where something of what they are of is no
        longer as it was; what has joined changes nothing for them."""
        before = self.known.get(kind, {})
        changed = [name for name, value in before.items()
                   if identity.get(name, value) != value]
        if results.exists() and (changed or not before):
            why = ", ".join(changed) or "it is not known of what they are"
            print(f"bench-peers: the results of {kind} go to "
                  f"{self.put_aside(results)}: {why}")
            before = {}
        self.known[kind] = {**before, **identity}
        self.write()

    @staticmethod
    def put_aside(results):
        """Under the first name that is free."""
        number = 1
        while (aside := results.with_name(
                f"{results.stem}-old{number}.jsonl")).exists():
            number += 1
        results.rename(aside)
        return aside
