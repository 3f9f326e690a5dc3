"""What all pages of people have in common."""
