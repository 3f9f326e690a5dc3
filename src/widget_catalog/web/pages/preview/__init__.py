"""Widgets that run on our pages: the preview and its files."""
