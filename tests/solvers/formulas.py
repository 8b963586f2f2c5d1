"""Formulas that the solver tests share."""

HEAD = "(set-logic QF_LIRA)\n"


def pigeonhole(holes: int) -> str:
    """One pigeon more than holes: unsat, and out of reach of resolution from about 11 holes on."""
    pigeons = range(holes + 1)
    lines = [f"(declare-const p{i}_{j} Bool)" for i in pigeons for j in range(holes)]
    lines += [f"(assert (or {' '.join(f'p{i}_{j}' for j in range(holes))}))" for i in pigeons]
    lines += [
        f"(assert (or (not p{i}_{j}) (not p{k}_{j})))"
        for j in range(holes)
        for i in pigeons
        for k in range(i)
    ]
    return HEAD + "\n".join(lines)


HARD = pigeonhole(12)
"""Takes every solver here minutes."""

EASY_PART = "(assert (and p0_0 p1_0))"
"""With this, HARD is unsat at once."""
