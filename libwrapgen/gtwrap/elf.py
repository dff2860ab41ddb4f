# SPDX-License-Identifier: BSD-3-Clause
"""Reads which functions a shared library or an archive exports, and which symbols it wants.

Limits: ELF of 64 bits, little-endian; nothing is run and every offset is checked against the file.
"""
import os
import struct
import subprocess

from .fail import Failure

LIMIT = 4 << 30
FUNCTION_TYPES = (0, 2, 10) # untyped, function, indirect function


class Elf:
    """One ELF image: self.defined and self.wanted are sets of names, self.soname a name or ""."""

    def __init__(self, data, name):
        self.data, self.name = data, name
        self.defined, self.wanted, self.soname = set(), set(), ""
        try:
            self._read()
        except (struct.error, IndexError, ValueError) as error:
            raise Failure(f"{name} is a damaged ELF file") from error

    def _string(self, section, offset):
        start, size = section[4], section[5]
        if offset >= size:
            return ""
        end = self.data.find(b"\0", start + offset, start + size)
        return bytes(self.data[start + offset:max(end, 0)]).decode("utf-8", "replace")

    def _read(self):
        data = self.data
        if data[:4] != b"\x7fELF" or data[4] != 2 or data[5] != 1:
            raise Failure(f"{self.name} is no ELF library of 64 bits")
        offset, = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        if size != 64:
            raise Failure(f"{self.name} has no section table")
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
        dynamic = any(s[1] == 11 for s in sections)
        for section in sections:
            if section[1] == (11 if dynamic else 2): # SHT_DYNSYM, else SHT_SYMTAB
                self._symbols(section, sections[section[6]])
            if section[1] == 6: # SHT_DYNAMIC
                for at in range(section[4], section[4] + section[5], 16):
                    tag, value = struct.unpack_from("<QQ", data, at)
                    if tag == 14:
                        self.soname = self._string(sections[section[6]], value)

    def _symbols(self, section, strings):
        for at in range(section[4], section[4] + section[5] - 23, 24):
            name, info, other, index = struct.unpack_from("<IBBH", self.data, at)
            bind, kind = info >> 4, info & 15
            if bind not in (1, 2, 10) or not name:
                continue
            if index == 0:
                self.wanted.add(self._string(strings, name))
            elif kind in FUNCTION_TYPES and other & 3 in (0, 3):
                self.defined.add(self._string(strings, name))


def _members(data, name):
    """The ELF members of an archive."""
    at = 8
    while at + 60 <= len(data):
        head = data[at:at + 60]
        try:
            size = int(head[48:58].decode("ascii").strip())
        except ValueError as error:
            raise Failure(f"{name} is a damaged archive") from error
        if data[at + 60:at + 64] == b"\x7fELF":
            yield Elf(data[at + 60:at + 60 + size], name)
        at += 60 + size + size % 2


def load(path):
    """(functions, wanted symbols, soname) of a shared library or an archive."""
    try:
        if os.path.getsize(path) > LIMIT:
            raise Failure(f"{path} is larger than 4 GiB")
        with open(path, "rb") as file:
            data = memoryview(file.read())
    except OSError as error:
        raise Failure(f"the library {path} cannot be read: {error.strerror}") from error
    if bytes(data[:8]) == b"!<arch>\n":
        data = bytes(data)
        members = list(_members(data, path))
        return (set().union(*(m.defined for m in members)),
                set().union(*(m.wanted for m in members)), "")
    if bytes(data[:4]) != b"\x7fELF":
        text = bytes(data[:4096])
        raise Failure(f"{path} is a linker script: name the library that it stands for"
                      if b"GROUP" in text or b"INPUT" in text else f"{path} is no library")
    elf = Elf(bytes(data), path)
    return elf.defined, elf.wanted, elf.soname


def find(library, folders, compiler):
    """The file of a library named as libx.so.1 or -lx or a path."""
    if "/" in library and not os.path.isfile(library):
        raise Failure(f"there is no library {library}")
    if "/" in library:
        return os.path.abspath(library)
    names = [library] if ".so" in library or library.endswith(".a") else \
        [f"lib{library}.so", f"lib{library}.a"]
    for name in names:
        for folder in folders:
            if folder and os.path.isfile(os.path.join(folder, name)):
                return os.path.join(folder, name)
        try:
            done = subprocess.run([*compiler, "-print-file-name=" + name], capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        path = done.stdout.decode("utf-8", "surrogateescape").strip()
        if os.path.isabs(path) and os.path.isfile(path):
            return path
    raise Failure(f"there is no library {library}")
