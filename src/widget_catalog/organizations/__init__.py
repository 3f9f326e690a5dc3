"""Organizations: members, roles, invitations."""
