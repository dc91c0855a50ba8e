"""Look at a file without making its next flush slower.

Who asks Linux (6.13 and newer) for the times of a file makes it note the next write to the
nanosecond, and a flush then has to write the file's times as well, which takes a tenth of an append
of one word. `os.stat` always asks for them. Here only what tells files apart is asked for.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from typing import Any, NamedTuple

from trustream._open_databases import Identity

# From linux/stat.h: paths are relative to the working folder, and what is asked for.
_AT_FDCWD, _STATX_INO, _STATX_SIZE = -100, 0x100, 0x200
# Of struct statx: its size, inode and size in bytes, and the numbers of the device.
_BYTES, _INODE_SIZE, _DEVICE = 256, (32, struct.Struct("=QQ")), (136, struct.Struct("=II"))


class FileStatus(NamedTuple):
    """What is known of a file: its identity, and its size in bytes."""

    identity: Identity
    size: int


def _find_statx() -> Any:
    if sys.platform != "linux":
        return None
    try:
        statx = ctypes.CDLL(None).statx
    except (OSError, AttributeError):
        return None
    statx.argtypes = [
        ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p
    ]  # fmt: skip
    return statx


_STATX = _find_statx()


def file_status(path: str) -> FileStatus:
    """Look at a file.

    Raises:
        OSError: it is not there, or may not be looked at.

    >>> import os, trustream
    >>> found, same = file_status(trustream.__file__), os.stat(trustream.__file__)
    >>> found == ((same.st_dev, same.st_ino), same.st_size)
    True
    """
    name = os.fsencode(path)
    # A NUL would end the name in C.
    if _STATX is not None and b"\0" not in name:
        answer = ctypes.create_string_buffer(_BYTES)
        if _STATX(_AT_FDCWD, name, 0, _STATX_INO | _STATX_SIZE, answer) == 0:
            (at, numbers), (at_device, device) = _INODE_SIZE, _DEVICE
            inode, size = numbers.unpack_from(answer, at)
            return FileStatus((os.makedev(*device.unpack_from(answer, at_device)), inode), size)
        # Where it is forbidden, as in some containers, or to say what is wrong.
    found = os.stat(path)
    return FileStatus((found.st_dev, found.st_ino), found.st_size)
