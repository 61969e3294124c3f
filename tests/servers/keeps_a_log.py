"""Echoes the id of each call, and keeps a log of its own: id, when it was got, when it was answered.

The times are nanoseconds of the monotonic clock, which all processes of a machine share; each
line is written at once, so the log survives whatever happens. The second argument is how long it
thinks about a call (seconds).
"""

import json
import os
import sys
import time

if __name__ == "__main__":
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    think = float(sys.argv[2])
    for line in sys.stdin.buffer:
        got = time.monotonic_ns()
        identity = json.loads(line)["id"]
        time.sleep(think)
        os.write(1, b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % identity)
        os.write(log, b"%d %d %d\n" % (identity, got, time.monotonic_ns()))
