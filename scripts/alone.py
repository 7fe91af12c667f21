"""Run a command in a network namespace, after checking that it has only a loopback interface.

unshare --user --map-root-user --net python scripts/alone.py COMMAND...
"""

import errno
import fcntl
import os
import socket
import struct
import sys

SIOCSIFFLAGS, UP_AND_RUNNING = 0x8914, 0x49

with socket.socket() as lo:
    fcntl.ioctl(lo, SIOCSIFFLAGS, struct.pack("16sh", b"lo", UP_AND_RUNNING))
try:
    socket.create_connection(("192.0.2.1", 80), 2)
except OSError as error:
    if error.errno != errno.ENETUNREACH:
        raise
else:
    sys.exit("the network is reachable")
os.execvp(sys.argv[1], sys.argv[1:])
