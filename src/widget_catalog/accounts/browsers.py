"""Human-readable names of browsers, from the User-Agent header."""

import re

# The first match wins: most browsers also include the names of those below them.
_BROWSERS = (
    (r"\bEdg(?:A|iOS)?/", "Edge"),
    (r"\b(?:OPR|OPX|Opera)/", "Opera"),
    (r"\bVivaldi/", "Vivaldi"),
    (r"\bSamsungBrowser/", "Samsung Internet"),
    (r"\bDuckDuckGo/|\bDdg/", "DuckDuckGo"),
    (r"\bYaBrowser/", "Yandex Browser"),
    (r"\b(?:Firefox|FxiOS)/", "Firefox"),
    (r"\bChromium/", "Chromium"),
    (r"\b(?:Headless)?Chrome/|\bCriOS/", "Chrome"),
    (r"\bVersion/\S+ (?:Mobile/\S+ )?Safari/", "Safari"),
)
_SYSTEMS = (
    (r"\bWindows\b", "Windows"),
    (r"\biPhone\b", "iPhone"),
    (r"\biPad\b", "iPad"),
    (r"\bAndroid\b", "Android"),
    (r"\bCrOS\b", "ChromeOS"),
    (r"\bMac OS X\b|\bMacintosh\b", "macOS"),
    (r"\bLinux\b|\bX11\b", "Linux"),
)
# A program starts with its own name: `curl/8.5.0`. All browsers start with `Mozilla`.
_PROGRAM = re.compile(r"(?!Mozilla/)([A-Za-z][A-Za-z0-9._-]{0,29})/")
_MAX_READ = 400


def browser_label(user_agent: str | None) -> str | None:
    """Such as "Firefox on Windows"; None if nothing known is found.

    It helps people to tell their sessions apart, and proves nothing: clients can send any header.
    The result is short, and consists of known words or a program's plain name.
    """
    text = (user_agent or "")[:_MAX_READ]
    browser, system = _first(_BROWSERS, text), _first(_SYSTEMS, text)
    if browser is None and (program := _PROGRAM.match(text)):
        return program[1]
    if browser is None or system is None:
        return browser or (f"A browser on {system}" if system else None)
    return f"{browser} on {system}"


def _first(known: tuple[tuple[str, str], ...], text: str) -> str | None:
    return next((name for mark, name in known if re.search(mark, text)), None)
