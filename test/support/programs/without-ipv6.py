"""Runs a program on a kernel that says that it has no IPv6, as one that was started with ipv6.disable=1 does.

A seccomp filter fails socket(AF_INET6, ...) with EAFNOSUPPORT.
"""
import ctypes
import errno
import os
import platform
import struct
import sys

AF_INET6 = 10
SOCKET = {"x86_64": 41, "aarch64": 198}[platform.machine()]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000 | errno.EAFNOSUPPORT
NUMBER, FIRST_ARGUMENT = 0, 16

INSTRUCTIONS = [
    (LOAD, 0, 0, NUMBER),
    (EQUAL, 0, 3, SOCKET),
    (LOAD, 0, 0, FIRST_ARGUMENT),
    (EQUAL, 0, 1, AF_INET6),
    (RETURN, 0, 0, FAIL),
    (RETURN, 0, 0, ALLOW),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in INSTRUCTIONS))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(INSTRUCTIONS), ctypes.addressof(code)))

libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
