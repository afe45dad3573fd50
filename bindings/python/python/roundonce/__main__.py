"""The command: `python -m roundonce why`, and the script `roundonce`."""

import signal
import sys

from ._native import command


def main() -> int:
    # Python's handler would wait until the command is done; a signal that the parent ignores stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["roundonce", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
