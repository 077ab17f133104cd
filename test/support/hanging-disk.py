"""Mounts a file system of one small file that hangs: hanging-disk.py DIRECTORY FILE CALL COUNT.

The file is called as FILE, and has its content. The COUNT-th CALL on it (getattr, open, read or flush; or readdir on its directory) prints "hangs" and
is never answered; killing this process ends the wait. "ready" is printed when the file system is mounted.
"""
import os
import stat
import sys
import threading

try:
    from fusepy import FUSE, FuseOSError, Operations
except ImportError:  # as everybody but Debian calls it
    from fuse import FUSE, FuseOSError, Operations

directory, source, call, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
name = "/" + os.path.basename(source)
with open(source, "rb") as file:
    content = file.read()


class HangingDisk(Operations):
    def __init__(self):
        self.calls = 0

    def init(self, path):
        print("ready", flush=True)

    def _met(self, path, which):
        if path != name or which != call:
            return
        self.calls += 1
        if self.calls == count:
            print("hangs", flush=True)
            threading.Event().wait()

    def getattr(self, path, fh=None):
        if path == "/":
            return dict(st_mode=stat.S_IFDIR | 0o755, st_nlink=2)
        if path != name:
            raise FuseOSError(2)
        self._met(path, "getattr")
        return dict(st_mode=stat.S_IFREG | 0o644, st_nlink=1, st_size=len(content), st_mtime=1, st_ctime=1)

    def readdir(self, path, fh):
        self._met(name, "readdir")
        return [".", "..", name[1:]]

    def open(self, path, flags):
        self._met(path, "open")
        return 3

    def read(self, path, size, offset, fh):
        self._met(path, "read")
        return content[offset : offset + size]

    def flush(self, path, fh):
        self._met(path, "flush")
        return 0


FUSE(HangingDisk(), directory, foreground=True, attr_timeout=0, entry_timeout=0)
