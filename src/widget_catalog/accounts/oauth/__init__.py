"""The OAuth 2.1 server: Authlib's grants on our store. Programs sign people in through it."""
