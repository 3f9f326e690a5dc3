"""The headers of the sandbox's frame: the document in which one widget runs.

The document names most of its policy itself, in a `<meta>`, so that a copy without these headers is
safe against almost everything. Only headers can say the rest.
"""

import re

# All that Chromium 156 knows but client hints; others ignore those that they do not know.
_FEATURES = """
accelerometer aria-notify autoplay browsing-topics camera captured-surface-control
clipboard-read clipboard-write compute-pressure cross-origin-isolated deferred-fetch
deferred-fetch-minimal digital-credentials-create digital-credentials-get display-capture
encrypted-media fullscreen gamepad geolocation gyroscope hid identity-credentials-get
idle-detection keyboard-map language-detector language-model local-fonts local-network
local-network-access loopback-network magnetometer media-playback-while-not-visible
microphone midi on-device-speech-recognition otp-credentials payment picture-in-picture
private-state-token-issuance private-state-token-redemption publickey-credentials-create
publickey-credentials-get screen-wake-lock serial speaker-selection storage-access
summarizer sync-xhr translator unload usb window-management xr-spatial-tracking
""".split()
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">')


def frame_headers(document: str, ancestors: str = "") -> list[tuple[str, str]]:
    """Those that make the document a sandbox, also for who opens its address. `ancestors`: the only
    sites that may embed it, as in `frame-ancestors`; empty: any."""
    [own] = _POLICY.findall(document)
    policy = f"sandbox allow-scripts; {own}"
    return [
        ("content-type", "text/html; charset=utf-8"),
        (
            "content-security-policy",
            policy + (f"; frame-ancestors {ancestors}" if ancestors else ""),
        ),
        # A policy is about what is loaded. This one is about connections, such as those of hints.
        ("connection-allowlist", "()"),
        ("permissions-policy", ", ".join(f"{it}=()" for it in _FEATURES)),
        ("cross-origin-resource-policy", "cross-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-dns-prefetch-control", "off"),
    ]
