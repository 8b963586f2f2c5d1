"""Ctrl-C and SIGTERM: the first ends a run in good order, a second one ends the command at once."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """What was heard. A signal that comes before there is anything to stop is remembered until there is."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._stop: Callable[[], None] | None = None

    @property
    def exit_code(self) -> int:
        """128 plus the signal's number, 0 if there was none."""
        return 0 if self.received is None else 128 + self.received

    def stops(self, stop: Callable[[], None]) -> None:
        """Call `stop` when a signal comes, at once if one has come."""
        self._stop = stop
        if self.received is not None:
            stop()

    def hear(self, number: int, frame: FrameType | None) -> None:
        """The signal handler."""
        if self.received is not None:
            raise SystemExit(128 + number)
        self.received = number
        if self._stop is not None:
            self._stop()


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Listen to `SIGNALS` for the length of the block."""
    heard = Interruption()
    before = {number: signal.signal(number, heard.hear) for number in SIGNALS}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
