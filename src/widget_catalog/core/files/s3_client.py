"""A bucket of an S3-compatible store: objects by key, errors as errors of ours."""

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import IO, Any, BinaryIO, NamedTuple, cast

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    PartialCredentialsError,
)

from ..errors import BundleNotFound, BundlesDown, BundlesUnusable, StoreUnavailable
from ..settings import ObjectStore
from ..tracing import part

_MISSING = ("404", "NoSuchKey", "NotFound")
_IS_THERE = ("412", "PreconditionFailed")
_PAST_THE_END = ("416", "InvalidRange")
_AGAIN = ("409", "ConditionalRequestConflict")
# Larger objects are read into a file.
_IN_MEMORY_BYTES = 8 << 20
_CHUNK_BYTES = 1 << 18
_UPLOAD_LIFETIME_S = 3600
_PART = "object_store"
# The latter two for answers that are no S3: redirects without end, headers that are no numbers.
_NO_ANSWER = (BotoCoreError, RecursionError, ValueError)

_CHECKSUM = "x-amz-checksum-sha256"
_NO_KEY = (
    "There is no key to sign requests with: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
    "AWS_SHARED_CREDENTIALS_FILE."
)
_WRONG_KEY = "The store does not know the access key."
_NO_RIGHT = "The key has no right to write there: it needs s3:PutObject and s3:DeleteObject."
_EXPIRED = "The session token is not valid, or no longer."
# Advice for operators, by the error code of the store.
_ADVICE = {
    "NoSuchBucket": "There is no such bucket.",
    "AccessDenied": _NO_RIGHT,
    "403": _NO_RIGHT,
    "InvalidAccessKeyId": _WRONG_KEY,
    "SignatureDoesNotMatch": "The secret access key is wrong, or the region is.",
    "RequestTimeTooSkewed": "The clock of this machine and that of the store differ: set it.",
    "ExpiredToken": _EXPIRED,
    "InvalidToken": _EXPIRED,
    "AuthorizationHeaderMalformed": "The region is another one: set s3_region.",
    "PermanentRedirect": "The bucket is elsewhere: set s3_region or s3_endpoint.",
}


class FoundObject(NamedTuple):
    key: str
    size_bytes: int
    stored_at: float


class Bucket:
    """Keys are below the prefix in the settings. May be used by any thread."""

    def __init__(self, place: ObjectStore) -> None:
        self._place = place

    def address(self, key: str = "") -> str:
        """For messages."""
        return f"s3://{self._place.bucket}/{self._key(key)}"

    def put(
        self, key: str, content: IO[bytes], sha256_base64: str, *, replaces: bool = False
    ) -> bool:
        """Store an object; False if it exists, unless this `replaces` it. A store without
        conditional writes replaces it by the same bytes, because keys contain the hash.
        """
        condition = {} if replaces else {"IfNoneMatch": "*"}
        for is_last in (False, True):
            content.seek(0)
            try:
                with part(_PART):
                    self._client.put_object(
                        **self._object(key), Body=content, **condition, ChecksumSHA256=sha256_base64
                    )
            except ClientError as error:
                if _code(error) in _IS_THERE:
                    return False
                if is_last or _code(error) not in _AGAIN:
                    raise _named(error) from error
            except _NO_ANSWER as error:
                raise BundlesDown from error
            else:
                return True
        return False

    def read(self, key: str, start: int = 0, stop: int | None = None) -> BinaryIO:
        """From memory or a file, so that further reads do not depend on the store. Never more than
        the requested bytes, whatever the store sends.
        """
        left = sys.maxsize if stop is None else stop - start
        last = "" if stop is None else stop - 1
        wanted = {} if not start and stop is None else {"Range": f"bytes={start}-{last}"}
        copy = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115
        try:
            with _errors_named():
                found = self._client.get_object(**self._object(key), **wanted)
                with contextlib.closing(found["Body"]) as body:
                    while left > 0 and (chunk := body.read(min(_CHUNK_BYTES, left))):
                        left -= copy.write(chunk)
        except _NothingThere:
            pass
        except OSError as error:
            copy.close()
            raise StoreUnavailable(
                f"A bundle cannot be copied to a temporary file ({error.strerror or error})."
            ) from error
        except BaseException:
            copy.close()
            raise
        copy.seek(0)
        return cast(BinaryIO, copy)

    def find(self, key: str) -> FoundObject | None:
        try:
            with _errors_named():
                found = self._client.head_object(**self._object(key))
        except BundleNotFound:
            return None
        return FoundObject(key, found["ContentLength"], _seconds(found["LastModified"]))

    def remove(self, key: str) -> None:
        with _errors_named():
            self._client.delete_object(**self._object(key))

    def rename(self, key: str, new_key: str) -> None:
        """Raises BundleNotFound."""
        with _errors_named():
            self._client.copy_object(**self._object(new_key), CopySource=self._object(key))
            self._client.delete_object(**self._object(key))

    def list(self, prefix: str) -> Iterator[FoundObject]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._place.bucket, Prefix=self._key(prefix)
        )
        with _errors_named():
            for page in pages:
                for entry in page.get("Contents", ()):
                    key = entry["Key"][len(self._key("")) :]
                    yield FoundObject(key, entry["Size"], _seconds(entry["LastModified"]))

    def sign_put(self, key: str, size_bytes: int, sha256_base64: str) -> str:
        """A presigned URL for one object of this size and hash, valid for an hour. Whether the
        hash is checked depends on the store; the size is.
        """
        bound = {"ContentLength": size_bytes, "ChecksumSHA256": sha256_base64}
        with _errors_named():
            address: str = self._client.generate_presigned_url(
                "put_object", Params={**self._object(key), **bound}, ExpiresIn=_UPLOAD_LIFETIME_S
            )
        return address

    def check_readable(self) -> None:
        with _errors_named():
            self._client.head_bucket(Bucket=self._place.bucket)

    def check_writable(self) -> None:
        """Raises BundlesUnusable, with our description and the store's error."""
        try:
            self._client.put_object(**self._object("write-check"), Body=b"")
            self._client.delete_object(**self._object("write-check"))
        except ClientError as error:
            advice = _ADVICE.get(_code(error), "The store refused to keep an object.")
            raise BundlesUnusable(f"{advice} ({error})") from error
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise BundlesUnusable(f"{_NO_KEY} ({error})") from error
        except _NO_ANSWER as error:
            advice = "The store does not answer: check s3_endpoint and the network."
            raise BundlesUnusable(f"{advice} ({error})") from error

    def _key(self, key: str) -> str:
        return f"{self._place.prefix}/{key}" if self._place.prefix else key

    def _object(self, key: str) -> dict[str, str]:
        return {"Bucket": self._place.bucket, "Key": self._key(key)}

    @cached_property
    def _client(self) -> Any:
        place = self._place
        client = boto3.session.Session().client(
            "s3",
            endpoint_url=place.endpoint or None,
            region_name=place.region or None,
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path" if place.is_path_style else "auto"},
                connect_timeout=3,
                read_timeout=15,
                retries={"max_attempts": 2, "mode": "standard"},
                max_pool_connections=16,
                # We verify hashes ourselves, and not every store supports these checksums.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )
        client.meta.events.register("before-sign.s3.PutObject", _checksum_into_address)
        return client


def _checksum_into_address(request: Any, signature_version: str, **_: Any) -> None:
    """Sign the checksum in the URL: clients that only know the URL send no header."""
    if signature_version.endswith("-query") and _CHECKSUM in request.headers:
        request.params = {**(request.params or {}), _CHECKSUM: request.headers[_CHECKSUM]}
        del request.headers[_CHECKSUM]


class _NothingThere(Exception):
    """The requested range starts after the end."""


@contextlib.contextmanager
def _errors_named() -> Iterator[None]:
    try:
        with part(_PART):
            yield
    except ClientError as error:
        if _code(error) in _PAST_THE_END:
            raise _NothingThere from None
        raise _named(error) from error
    except _NO_ANSWER as error:
        raise BundlesDown from error


def _named(error: ClientError) -> BundleNotFound | BundlesDown:
    if _code(error) in _MISSING:
        return BundleNotFound("There is no such object in the bundle store.")
    return BundlesDown()


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _seconds(at: datetime) -> float:
    return float(int(at.timestamp()))  # Some responses have whole seconds only.
