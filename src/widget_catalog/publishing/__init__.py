"""Publishing: request, upload, confirm; then yank, deprecate, unlist."""
