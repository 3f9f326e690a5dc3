"""The OAuth 2.1 server: Authlib's grants on our store. Programs sign people in through it."""

from .devices import DeviceRequest, decide_device, find_device_request
from .serving import (
    ACCESS_SECONDS,
    Answer,
    Consent,
    OAuthConfig,
    Refused,
    authorize,
    check_authorization,
    exchange,
    revoke,
    start_device,
)
from .successors import forget_successors

__all__ = [
    "ACCESS_SECONDS",
    "Answer",
    "Consent",
    "DeviceRequest",
    "OAuthConfig",
    "Refused",
    "authorize",
    "check_authorization",
    "decide_device",
    "exchange",
    "find_device_request",
    "forget_successors",
    "revoke",
    "start_device",
]
