"""cvc5 as a program on a pipe: `python -I -S cvc5_host.py FOLDER_OF_CVC5 [--strict]`

Reads SMT-LIB 2 commands from standard input in batches, each ended by a line `;!` (to SMT-LIB a comment) or by
the end of the input, and prints what cvc5 answers. Stops at the first error.
"""

import os
import sys
from collections.abc import Iterator

END = b";!\n"
_CHUNK = 1 << 16


def main(folder: str, strict: bool) -> int:
    """Serve until the input ends, `(exit)`, or an error."""
    sys.path.append(folder)
    import cvc5

    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    symbols = cvc5.SymbolManager(terms)
    if strict:
        solver.setOption("strict-parsing", "true")
    parser = cvc5.InputParser(solver, symbols)
    for batch in batches():
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, batch, "input")
        try:
            while not (command := parser.nextCommand()).isNull():
                answer = str(command.invoke(solver, symbols))
                if answer.startswith("unknown ("):
                    answer = "unknown\n"  # the reason beside it is for (get-info :reason-unknown)
                if answer:
                    print(answer, end="", flush=True)
                if answer.startswith("(error"):
                    return 1
                if command.getCommandName() == "exit":
                    return 0
        except RuntimeError as error:  # what the parser refuses
            words = str(error).replace('"', '""')
            print(f'(error "{words}")', flush=True)
            return 1
    return 0


def batches() -> Iterator[str]:
    """The batches of commands on standard input."""
    pieces: list[bytes] = []
    while piece := os.read(0, _CHUNK):
        pieces.append(piece)
        if piece.endswith(END) or (len(piece) < len(END) and b"".join(pieces[-len(END) :]).endswith(END)):
            yield b"".join(pieces).decode()
            pieces.clear()
    if pieces:
        yield b"".join(pieces).decode()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--strict" in sys.argv[2:]))
