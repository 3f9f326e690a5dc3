"""What runs: the command, the server, its workers, and the list of features."""
