"""Permissions of widgets in words, for pages and for the client's `consent()`."""

from .language import N_

PERMISSIONS = {
    "camera": N_("Use the camera"),
    "clipboard": N_("Use the clipboard"),
    "clipboard-read": N_("Read the clipboard"),
    "clipboard-write": N_("Write to the clipboard"),
    "fullscreen": N_("Use full screen"),
    "geolocation": N_("Access your location"),
    "microphone": N_("Use the microphone"),
    "network": N_("Connect to the network"),
    "notifications": N_("Show notifications"),
    "settings": N_("Read the dashboard's settings"),
    "storage": N_("Store data in the browser"),
    "user": N_("Access your identity"),
}

# Of widget_contract/capabilities.py.
CAPABILITIES = ("read %(domain)s", "control %(domain)s", "only %(services)s")
