"""What operators look after in a browser: the whole catalog. The pages work without a script."""
