"""Stored sign-ins: a private file, and optionally the system's keyring.

Reading needs no lock; a writer takes it and reads again.
"""

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from .errors import ToolError

_SERVICE = "widget-cli"

if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Acquire the lock. The file is never removed, which would be a race."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _keyring() -> Iterator[Any]:
    """The system's keyring, if the extra `keyring` is installed."""
    try:
        try:
            import keyring
        except ImportError:
            raise ToolError(
                "The keyring cannot be used: a package is missing.",
                'Install it with: pip install "widget-cli[keyring]" (or sign in without --keyring)',
            ) from None
        yield keyring
    except ToolError:
        raise
    except Exception as error:  # They depend on the system, and some occur only when it is used.
        raise ToolError(
            f"The system's keyring cannot be used ({type(error).__name__}).",
            "Unlock it, or sign in again without --keyring.",
        ) from None


class SignIn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A sign-in to one catalog. With `is_in_keyring` the file does not contain its secrets.

    `is_insecure`: the user has allowed plain http.
    """

    username: str
    client_id: str = ""
    access_token: str = ""
    refresh_token: str = ""
    expires_at_s: int = 0
    is_in_keyring: bool = False
    is_insecure: bool = False


class _Content(msgspec.Struct, rename="camel"):
    version: int = 1
    default: str | None = None
    catalogs: dict[str, SignIn] = {}


class CredentialsWriter:
    """Changes the file; used with the lock held."""

    def __init__(self, credentials: "Credentials") -> None:
        self._credentials = credentials

    def save(self, url: str, sign_in: SignIn, *, becomes_default: bool = False) -> None:
        content = self._credentials.read()
        if sign_in.is_in_keyring:
            with _keyring() as keyring:
                keyring.set_password(_SERVICE, url, msgspec.json.encode(sign_in).decode())
            sign_in = SignIn(username=sign_in.username, is_in_keyring=True)
        content.catalogs[url] = sign_in
        if becomes_default or content.default is None:
            content.default = url
        self._credentials.write(content)

    def remove(self, url: str) -> None:
        content = self._credentials.read()
        gone = content.catalogs.pop(url, None)
        if gone and gone.is_in_keyring:
            with _keyring() as keyring:
                if keyring.get_password(_SERVICE, url) is not None:
                    keyring.delete_password(_SERVICE, url)
        if content.default == url:
            content.default = next(iter(content.catalogs), None)
        self._credentials.write(content)


class Credentials:
    """The file `credentials.json` in the platform's configuration folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(platformdirs.user_config_dir("widget-cli", appauthor=False))
        self.file = self.folder / "credentials.json"

    @property
    def default_url(self) -> str | None:
        return self.read().default

    @property
    def urls(self) -> list[str]:
        return list(self.read().catalogs)

    def find(self, url: str) -> SignIn | None:
        found = self.read().catalogs.get(url)
        if found is None or not found.is_in_keyring:
            return found
        with _keyring() as keyring:
            kept = keyring.get_password(_SERVICE, url)
        return None if kept is None else msgspec.json.decode(kept, type=SignIn)

    @contextlib.contextmanager
    def writing(self) -> Iterator[CredentialsWriter]:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            held = contextlib.ExitStack()
            held.enter_context(_locked(self.folder / "credentials.lock"))
        except OSError as error:
            raise self._unusable("written", error) from None
        with held:
            yield CredentialsWriter(self)

    def read(self) -> _Content:
        try:
            return msgspec.json.decode(self.file.read_bytes(), type=_Content)
        except FileNotFoundError:
            return _Content()
        except OSError as error:
            raise self._unusable("read", error) from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise ToolError(
                f"{self.file} is damaged.", "Remove it, then sign in again: widget login"
            ) from None

    def write(self, content: _Content) -> None:
        """Write atomically, and never readable by others."""
        partial = self.folder / f".credentials-{secrets.token_hex(8)}"
        try:
            self.folder.chmod(0o700)
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
                file.flush()
                os.fsync(descriptor)
            partial.replace(self.file)
        except OSError as error:
            raise self._unusable("written", error) from None
        finally:
            partial.unlink(missing_ok=True)

    def _unusable(self, done: str, error: OSError) -> ToolError:
        return ToolError(
            f"{self.file} cannot be {done}: {error.strerror}.",
            "Check the permissions of that folder, or set WIDGET_TOKEN instead.",
        )
