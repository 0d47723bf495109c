# SPDX-License-Identifier: MIT
"""Where stores of zarr-python's are, as the library opens them: their URI, and
the credentials and options of the clients of obstore and fsspec."""
import os
import urllib.parse
from collections.abc import Collection
from typing import Any, NamedTuple

from zarr.storage import FsspecStore, LocalStore, ObjectStore

from .errors import UnsupportedError
from .store import S3Options


class Root(NamedTuple):
    """The root of zarr's store, as the library opens it."""

    uri: str
    s3: S3Options | None = None

    def __repr__(self) -> str:
        """Without secrets, for tracebacks that show variables."""
        return f"<Root of {self.uri}>"

    @property
    def is_local(self) -> bool:
        return "://" not in self.uri

    @property
    def is_in_s3(self) -> bool:
        return self.s3 is not None


# Members of obstore's configuration: the library's options of S3, and what
# does not change what is read and written.
_OBSTORE_S3 = {
    "access_key_id": "access_key", "secret_access_key": "secret_key",
    "session_token": "session_token", "token": "session_token",
    "region": "region", "default_region": "region",
    "endpoint": "endpoint", "aws_endpoint_url_s3": "endpoint"}
_OBSTORE_OTHERS = {"bucket", "skip_signature", "virtual_hosted_style_request",
                   "conditional_put", "copy_if_not_exists", "disable_tagging",
                   "disable_bulk_delete", "unsigned_payload",
                   "checksum_algorithm"}
_OBSTORE_CLIENT = {"allow_http", "timeout", "connect_timeout", "user_agent",
                   "pool_idle_timeout", "pool_max_idle_per_host",
                   "http1_only", "http2_only"}


def find_root(store: Any) -> Root:
    """Returns where a store of zarr's is.  One whose options the library
    lacks is not supported: it would not read the same."""
    kind = type(store).__name__
    if type(store) is LocalStore:
        return Root(os.fspath(store.root))
    if type(store) is FsspecStore:
        # Its class is known by its name alone.
        fs: Any = store.fs
        kind += f" of {type(fs).__name__}"
        if (kind.endswith(" AsyncFileSystemWrapper")
                and type(fs.sync_fs).__name__ == "LocalFileSystem"):
            return Root(store.path.removeprefix("file://"))
        if kind.endswith(" HTTPFileSystem"):
            return _http_of_fsspec(fs, store.path)
        if kind.endswith(" S3FileSystem"):
            return _s3_of_fsspec(fs, store.path.strip("/"))
    elif type(store) is ObjectStore:
        inner = store.store
        kind += f" of {type(inner).__name__}"
        if kind.endswith(" LocalStore") and inner.prefix is not None:
            return Root(os.fspath(inner.prefix))
        if kind.endswith(" HTTPStore"):
            _lack("obstore's client", inner.client_options, _OBSTORE_CLIENT)
            return _http(inner.url)
        if kind.endswith(" S3Store"):
            return _s3_of_obstore(inner)
    raise UnsupportedError(f"it is in a {kind}")


def _lack(what: str, options: Any, known: Collection[str]) -> None:
    """Refuses options that the library has not."""
    for name in options or ():
        if name not in known:
            raise UnsupportedError(f"{what} has the option '{name}'")


def _http(url: str) -> Root:
    return Root(urllib.parse.quote(url, safe="/:%~!$&'()*+,;=@[]"))


def _http_of_fsspec(fs: Any, url: str) -> Root:
    _lack("fsspec's client", {**fs.kwargs, **fs.client_kwargs}, ())
    if not fs.get_client.__module__.startswith("fsspec."):
        raise UnsupportedError("fsspec has a client of its own")
    return _http(url)


def _s3_of_obstore(inner: Any) -> Root:
    config = inner.config
    _lack("obstore's S3", config, [*_OBSTORE_S3, *_OBSTORE_OTHERS])
    _lack("obstore's client", inner.client_options, _OBSTORE_CLIENT)
    if inner.credential_provider is not None:
        raise UnsupportedError("obstore's credentials are from a function")
    s3: dict[str, str | int | bool] = {
        ours: config[theirs] for theirs, ours in _OBSTORE_S3.items()
        if theirs in config}
    # It has these variables that AWS's clients have not.
    if "endpoint" not in s3 and "AWS_ENDPOINT" in os.environ:
        s3["endpoint"] = os.environ["AWS_ENDPOINT"]
    s3["anonymous"] = _is_true(config.get(
        "skip_signature", os.environ.get("AWS_SKIP_SIGNATURE")))
    bucket = config["bucket"]
    s3["addressing"] = "path"
    if _is_true(config.get("virtual_hosted_style_request")):
        s3["addressing"] = "virtual"
        # With the bucket's name, that the library adds.
        scheme, _, host = str(s3.get("endpoint", "")).partition("://")
        if host:
            s3["endpoint"] = f"{scheme}://{host.removeprefix(bucket + '.')}"
    return Root("/".join(["s3:/", bucket, *filter(None, [inner.prefix])]), s3)


def _is_true(value: Any) -> bool:
    return str(value).lower() in ("true", "1", "yes", "on", "y", "t")


def _s3_of_fsspec(fs: Any, place: str) -> Root:
    _lack("s3fs", fs.kwargs, ["profile"])
    _lack("s3fs", fs.s3_additional_kwargs, ())
    _lack("s3fs's client", fs.client_kwargs, ["endpoint_url", "region_name"])
    _lack("s3fs's configuration", fs.config_kwargs,
          ["s3", "connect_timeout", "read_timeout", "retries",
           "max_pool_connections", "tcp_keepalive"])
    style = fs.config_kwargs.get("s3", {})
    _lack("s3fs's configuration", style, ["addressing_style"])
    if fs.requester_pays or fs.version_aware or not (
            fs.session is None or fs._session_is_owned):
        raise UnsupportedError("s3fs has a session, or options of its own")
    options = {
        "access_key": fs.key, "secret_key": fs.secret,
        "session_token": fs.token, "anonymous": bool(fs.anon),
        "endpoint": fs.endpoint_url or fs.client_kwargs.get("endpoint_url"),
        "region": fs.client_kwargs.get("region_name"),
        "profile": fs.kwargs.get("profile"),
        "addressing": style.get("addressing_style", "auto")}
    return Root(f"s3://{place}", {name: value for name, value
                                  in options.items() if value is not None})
