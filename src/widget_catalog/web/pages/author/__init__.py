"""Pages for authors to manage their widgets. They work without JavaScript."""
