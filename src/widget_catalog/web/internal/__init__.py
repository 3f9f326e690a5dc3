"""The internal API: for signed-in people and the authors' tool."""
