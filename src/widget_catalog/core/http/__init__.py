"""HTTP: requests and responses, routing, dispatch, rendering, bindings to the server."""
