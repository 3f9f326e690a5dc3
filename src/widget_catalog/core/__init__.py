"""What every capability is built on. It knows none of them."""
