"""What the operator's commands share."""
