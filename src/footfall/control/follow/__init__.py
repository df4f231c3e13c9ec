"""Following a motion from a file with the whole body."""
