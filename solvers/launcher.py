"""Becomes a solver: `python -I -S launcher.py OWNER_PID COMMAND...`

On Linux the kernel then ends the solver the moment its owner is gone, even when the owner was killed and could
clean up nothing. Runs alone, without the rest of fairbox, so that it starts fast.
"""

import os
import sys

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_SIGKILL = 9
NOT_STARTED = 127
"""The exit code that shells use for it too."""


def main(owner: int, command: list[str]) -> None:
    """Tie this process to its owner's life, then replace it by the command."""
    if sys.platform == "linux":
        import ctypes

        if ctypes.CDLL(None, use_errno=True).prctl(_DIE_WITH_PARENT, _SIGKILL) != 0:
            sys.exit(f"cannot tie the solver to the life of its owner: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != owner:
        sys.exit("the owner is gone already")
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(NOT_STARTED)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
