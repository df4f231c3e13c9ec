"""Recordings on the disk: a directory of a JSON manifest and a Parquet table.

``folder`` puts both in place in one step and reads them, ``manifest`` says and checks what a recording is, ``samples``
holds its arrays.
"""

from footfall.recording_file.folder import place_for, read, write

__all__ = ["place_for", "read", "write"]
