# SPDX-License-Identifier: MIT
"""Stores: the root of a tree of volumes."""
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, overload

from . import _arguments, _calls
from ._calls import NULL, check
from ._handles import (
    Closable, Handle, context, context_options, pickled,
)
from ._native import ffi, lib
from .errors import (
    ArgumentError, ForkedError, FormatError, NotFoundError, RadioError,
    UnsupportedError, with_errno,
)
from .volume import Derived, Opened, Source, Volume

__all__ = ["S3Options", "Store", "open"]

T = TypeVar("T")

S3Options: TypeAlias = Mapping[str, str | int | bool]
"""Options of a store in S3, by the names of the members of ``struct
radio_s3_options``: endpoint, region, addressing ("path", "virtual"),
access_key, secret_key, session_token, profile, anonymous, hedge_percent,
ca_file, single_writer, grace_s, gap_nbytes, ..."""

_ADDRESSING: dict[Any, int] = {
    "auto": lib.RADIO_S3_ADDRESSING_AUTO,
    "path": lib.RADIO_S3_ADDRESSING_PATH,
    "virtual": lib.RADIO_S3_ADDRESSING_VIRTUAL}
_SECRETS = {"access_key", "secret_key", "session_token"}
_MEMORY = "memory:"
# Of something else that is at a path: a collection, an array, Zarr version 2.
_NO_VOLUME = FormatError, UnsupportedError


class _OpenStore:
    """An open store."""

    __slots__ = ("__weakref__", "call", "context", "pointer")

    def __init__(self, pointer: Any, context: Any, call: Any) -> None:
        self.pointer = pointer
        self.context = context
        # The user_data of its cancel function; gets the warnings of tables,
        # from any call.
        self.call = call

    def warn(self) -> None:
        _calls.warn_of(self.call)


@dataclass(frozen=True)
class Place:
    """Where a store is, and how it is opened."""

    uri: str
    # Traces that show variables leave it out: it has secrets.
    s3: S3Options | None = field(repr=False)
    threads: int
    memory: int
    cache: int | None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.uri == _MEMORY:
            raise TypeError("cannot pickle a store in memory")
        s3 = {name: value for name, value in (self.s3 or {}).items()
              if name not in _SECRETS}
        return pickled(Place, self.uri, s3, self.threads, self.memory,
                       self.cache)

    def open(self, create: bool = False, sync: bool = True) -> _OpenStore:
        owner = context(self.threads, self.memory, self.cache)
        options = ffi.new("struct radio_store_options *")
        options.context = owner
        options.create = create
        options.no_sync = not sync
        options.cancel = _calls.CANCEL
        options.warning = _calls.LINE
        options.user_data = call = _calls.new_call()
        kept = _set_s3(options.s3, self.s3 or {})
        store = _calls.owned("store", lib.radio_store_close)
        check(lib.radio_store_open(_arguments.file(self.uri, "uri"), options,
                                   store))
        del kept
        return _OpenStore(_calls.take(store), owner, call)

    def open_again(self) -> _OpenStore:
        if self.uri == _MEMORY:
            raise ForkedError("memory: a forked child cannot open the store of"
                              " its parent; use one in a folder")
        return self.open()


# Pickles of version 1 name it so, and are refused as such.
_Place = Place


def _type_name(member: Any) -> str:
    """Returns Python's type for a member of a struct."""
    return ("a str" if member.type.kind == "pointer"
            else "a bool" if member.type.cname == "_Bool" else "an int")


def _set_s3(options: Any, values: S3Options) -> list[Any]:
    """Sets the members; returns what must live until they were used."""
    members = dict(ffi.typeof("struct radio_s3_options").fields)
    del members["reserved"]
    if not isinstance(values, Mapping):
        raise TypeError(f"s3: is of type {type(values).__name__}; use a mapping"
                        " of options to their values")
    kept = []
    for name, value in values.items():
        if name not in members:
            raise TypeError(f"s3: no option {name!r}; there are"
                            f" {', '.join(members)}")
        if name == "addressing":
            value = _arguments.choice(value, "s3: addressing", _ADDRESSING)
        elif isinstance(value, str):
            kept.append(ffi.new("char[]", _arguments.chars(
                value, f"s3: {name}", name in _SECRETS)))
            value = kept[-1]
        try:
            setattr(options, name, value)
        except TypeError:
            raise TypeError(f"s3: {name}: is of type"
                            f" {type(values[name]).__name__}; use"
                            f" {_type_name(members[name])}") from None
        except OverflowError:
            raise ArgumentError(f"s3: {name}: {values[name]}: is out of range"
                                ) from None
    return kept


@dataclass(frozen=True)
class InStore:
    """A volume by its path in a store."""

    store: "Store"
    name: str

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(InStore, self.store, self.name)

    def open(self) -> Opened:
        # Volumes outlive the store that they are of.
        return self.open_in(self.store._handle.get_closed())

    def open_in(self, store: _OpenStore) -> Opened:
        volume = _calls.owned("volume", lib.radio_volume_close)
        check(lib.radio_volume_open(
            store.pointer, _arguments.chars(self.name, "path"), volume))
        return Opened(_calls.take(volume), store)


class Store(Mapping[str, Volume], Closable[_OpenStore]):
    """A tree of volumes: a mapping of their paths, as "ct/sub-01".

    >>> import libradio
    >>> with libradio.open("examples.zarr") as store:
    ...     sorted(store), "ct/head" in store, store.find("head")
    (['ct/head', 'mr/brain'], True, 'ct/head')

    Threads may share a store.  In a forked child it opens itself again, and it
    pickles as its URI and options, without secrets.
    """

    __slots__ = ("__weakref__", "_handle", "_place")

    def __init__(self, place: Place, opened: _OpenStore | None = None) -> None:
        """Not called by users: see ``open``."""
        self._place = place
        self._handle = Handle(place.uri.removesuffix(":"),
                              place.open_again, opened)

    @property
    def uri(self) -> str:
        """Where it is; of a local folder its absolute path."""
        return self._place.uri

    def __getitem__(self, path: str) -> Volume:
        """Opens a volume; NotFoundError, which is a KeyError, if there is none
        at the path, as of a collection: its volumes are ``paths(path)``."""
        try:
            return self._open_volume(self._handle.get(), path)
        except _NO_VOLUME as error:
            # A damaged volume is one.
            if path in self:
                raise
            line = self._describe(path, error)
        raise with_errno(NotFoundError(line))

    def _describe(self, path: str, error: Exception) -> str:
        """Says what is at a path that is not a volume's."""
        if not path:
            return (f"path: '' is the root of {self.uri}: {error}; use"
                    " COLLECTION/NAME")
        try:
            n = len(self.paths(path))
        except RadioError:
            return f"path: '{path}' is not a volume: {error}"
        return (f"path: '{path}' is a collection of {n}"
                f" volume{'' if n == 1 else 's'}; use paths('{path}'), or"
                f" '{path}/NAME'")

    def _open_volume(self, opened: _OpenStore, path: str) -> Volume:
        source = InStore(self, path)
        return Volume(source, source.open_in(opened))

    def __contains__(self, path: object) -> bool:
        """Whether there is a volume at the path, or a damaged one."""
        if not isinstance(path, str):
            return False
        try:
            return self.find(path) == path
        except (NotFoundError, ArgumentError, *_NO_VOLUME):
            return False

    @overload
    def get(self, path: str, default: None = None, /) -> Volume | None: ...
    @overload
    def get(self, path: str, default: Volume | T, /) -> Volume | T: ...

    def get(self, path: str, default: object = None, /) -> object:
        """Opens a volume; default if the path, which need not be legal, has
        no volume.  A damaged volume is an error."""
        try:
            return self._open_volume(self._handle.get(), path)
        except (NotFoundError, ArgumentError):
            return default
        except _NO_VOLUME:
            # Without a list of the collection for a message.
            if path in self:
                raise
            return default

    def __iter__(self) -> Iterator[str]:
        """Lists the paths, in the order of the keys of their documents."""
        return iter(self.paths())

    def __len__(self) -> int:
        """The number of volumes, which are listed."""
        return len(self.paths())

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def paths(self, collection: str | None = None) -> list[str]:
        """Returns the paths of the volumes, or of those of a collection."""
        name = (NULL if collection is None
                else _arguments.chars(collection, "collection"))
        call = _calls.new_call()
        opened = self._handle.get()
        status = lib.radio_store_list(opened.pointer, name, _calls.ENTRY, call)
        try:
            check(status)
            found = _calls.take_lines(call)
        finally:
            lib.python_clear(call)
        opened.warn()
        return found

    def find(self, name: str) -> str:
        """Returns the path of a volume by its bare name, which only one
        collection may have."""
        path = ffi.new("char **")
        check(lib.radio_store_find(self._handle.get().pointer,
                                   _arguments.chars(name, "name"), path))
        return _calls.take_text(path[0])

    def __repr__(self) -> str:
        closed = ", closed" if self._handle.is_closed else ""
        return f"<libradio.Store {self.uri!r}{closed}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(Store, self._place)


def check_store(value: object, name: str) -> None:
    """Raises TypeError unless a value is a store."""
    _arguments.instance(value, name, Store, "what libradio.open returns")


def open(uri: str | os.PathLike[str], *, create: bool = False,
         s3: S3Options | None = None, threads: int = 0, memory: int = 0,
         cache: int | None = None) -> Store:
    """Opens a store: a folder, "s3://BUCKET/PREFIX", the URL of a folder on a
    web server, or "memory:".

    create: make it if it does not exist.  s3: options, else from the
    environment.  threads: per operation, 0: one for each processor.  memory:
    bound of the library's memory in bytes besides results, 0: 1 GiB.  cache:
    bytes for decoded tiles, None: 64 MiB, 0: none.  Stores and files opened
    with the same threads, memory and cache share them.
    """
    name = os.fsdecode(_arguments.file(uri, "uri"))
    if name != _MEMORY:
        name = _arguments.place(name, "uri")
    place = Place(name, s3, *context_options(threads, memory, cache))
    return Store(place, place.open(_arguments.flag(create, "create")))
