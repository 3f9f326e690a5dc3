"""Sign-in and account pages. They work without JavaScript."""
