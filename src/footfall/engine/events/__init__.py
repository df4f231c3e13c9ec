"""Integration from event to event, for laws of rigid contact."""
