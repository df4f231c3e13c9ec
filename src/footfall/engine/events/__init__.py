"""Event-driven integration, for laws of rigid contact."""
