"""Which failure is which status: the one table of it, for everything that is not public."""

from ...domain.errors import (
    BundleRefused,
    CatalogError,
    Conflict,
    InvalidAccount,
    InvalidManifest,
    InvalidName,
    InvalidRequest,
    NotAllowed,
    NotFound,
    NotSignedIn,
    StoreUnavailable,
    TooOften,
)
from ..http import Response
from ..public import error


class TooSlow(CatalogError):
    """A body that does not come."""


class TooLarge(CatalogError):
    """A body that is larger than the address takes."""


class UnsupportedType(CatalogError):
    """A body of another type than the address takes."""


STATUSES: dict[type[CatalogError], int] = {
    InvalidRequest: 400,
    InvalidManifest: 400,
    InvalidAccount: 400,
    InvalidName: 400,
    BundleRefused: 400,
    NotSignedIn: 401,
    NotAllowed: 403,
    NotFound: 404,
    TooSlow: 408,
    Conflict: 409,
    TooLarge: 413,
    UnsupportedType: 415,
    TooOften: 429,
    StoreUnavailable: 503,
}


def status_of(fault: CatalogError) -> int:
    return next(status for kind, status in STATUSES.items() if isinstance(fault, kind))


def failure(fault: CatalogError) -> Response:
    """An error of ours as the answer it is."""
    status = status_of(fault)
    match fault:
        case NotSignedIn():
            return error(status, fault.message, ("www-authenticate", "Bearer"))
        case TooOften():
            return error(status, fault.message, ("retry-after", str(fault.wait_s)))
        case StoreUnavailable():
            return error(status, fault.message, ("retry-after", "5"))
    return error(status, fault.message)
