"""The live line of a run, on standard error: it moves also while the run waits for a solver."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairbox.figures import share_text
from fairbox.orchestrator.quantify import Event, Run

if TYPE_CHECKING:
    from rich.console import Console

REFRESHES_PER_SECOND = 4
PLAIN_SECONDS = 10.0
"""How often a line is printed where it cannot move, such as in a log file."""


class Tally:
    """Tasks open and done, counted from events, so that another thread may read them at any moment."""

    def __init__(self, run: Run) -> None:
        self.open = self.done = 0
        run.on_event(self._count)

    def _count(self, event: Event) -> None:
        if event.what == "opened":
            self.open += 1
        elif event.what in ("done", "split", "undecided", "cancelled"):
            self.open -= 1
            self.done += 1


def line(run: Run, tally: Tally) -> str:
    """Where the run stands, on one line: time, bounds, tasks, path tuples, speed."""
    bounds, counts, seconds = run.bounds, run.counts, run.seconds
    rate = counts.solver_calls / seconds if seconds > 0 else 0.0
    return (
        f"{seconds:.0f} s  {share_text(bounds.lower, bounds.upper)}  gap {float(bounds.gap):.2g} | "
        f"{tally.open:,} open, {tally.done:,} done | {counts.tuples:,} tuples | {rate:,.0f} calls/s"
    )


@contextmanager
def progress(run: Run, console: "Console") -> Iterator[None]:
    """Show the live line for the length of the block."""
    tally = Tally(run)
    with _moving(run, tally, console) if _can_move(console) else _printed(run, tally, console):
        yield


def _can_move(console: "Console") -> bool:
    return console.is_terminal and not console.is_dumb_terminal


@contextmanager
def _moving(run: Run, tally: Tally, console: "Console") -> Iterator[None]:
    from rich.live import Live
    from rich.text import Text

    def shown() -> Text:
        return Text(line(run, tally), no_wrap=True, overflow="ellipsis")

    with Live(
        get_renderable=shown,
        console=console,
        refresh_per_second=REFRESHES_PER_SECOND,
        transient=True,
        redirect_stdout=False,
    ):
        yield


@contextmanager
def _printed(run: Run, tally: Tally, console: "Console") -> Iterator[None]:
    over = threading.Event()

    def print_now_and_then() -> None:
        while not over.wait(PLAIN_SECONDS):
            console.file.write(line(run, tally) + "\n")
            console.file.flush()

    printer = threading.Thread(target=print_now_and_then, daemon=True)
    printer.start()
    try:
        yield
    finally:
        over.set()
        printer.join()
