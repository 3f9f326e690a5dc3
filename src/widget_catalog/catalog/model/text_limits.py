"""The sizes up to which imports and mirrors accept what publishing did not check, and up to which
a text is searched.

They are several times what publishing allows, because the limits of publishing were higher or
missing in the catalogs that imports come from. What is stored already stays, whatever its size.
"""

MAX_NAME = 1_024
"""Characters of a display name or a permission. Publishing allows names of 100."""
MAX_LINE = 65_536
"""Characters of a description, an icon, a reason or a range of SDKs. Publishing allows descriptions
of 1,000.
"""
MAX_TEXT = 1_048_576
"""Characters of release notes or a manifest. Publishing allows release notes of 20,000, and
manifests of 64 KiB besides their readme.
"""
MAX_DETAIL_BYTES = 32 << 20
"""Of a widget's detail, which has all its versions. Publishing allows `max_document_bytes`."""
