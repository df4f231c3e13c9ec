"""Files that several rooms read or write: how a file is put in place at once, and C3D."""
