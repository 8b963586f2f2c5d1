"""Follow a run task by task: events as they happen, and the task graph at the end.

A callback hears of every event after the bounds have taken it into account, and may stop the run.
"""

from collections import Counter
from pathlib import Path

import fairbox as fb
from fairbox.orchestrator.quantify import Event
from fairbox.orchestrator.tasks import Kind

CREDIT = Path(__file__).resolve().parent / "credit"


def main() -> None:
    model = fb.load_model(CREDIT / "model.json")
    space = fb.InputSpace.from_schema(CREDIT / "space.toml")
    run = fb.quantify(model, space, fb.Fairness(sensitive=["sex"]), time_limit=60, blocking_limit=50)

    events: Counter[tuple[str, str]] = Counter()

    def heard(event: Event) -> None:
        events[event.task.kind, event.what] += 1
        # The first s(π) task that shows an unfair input is enough for a yes-or-no answer.
        if event.task.kind is Kind.VIOLATIONS and event.task.unfair:
            run.stop()

    run.on_event(heard)
    result = run.result()

    for (kind, what), count in sorted(events.items()):
        print(f"{count:6}  {kind} task {what}")
    graph = run.graph
    split = sum(why == "split" for _, _, why in graph.edges(data="why"))
    print(f"{graph.number_of_nodes()} tasks; {split} came from splitting another")
    print(result)


if __name__ == "__main__":
    main()
