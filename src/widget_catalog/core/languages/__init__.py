"""The languages of public pages."""
