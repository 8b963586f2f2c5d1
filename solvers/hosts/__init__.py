"""The programs that run in a solver's own process and speak SMT-LIB on a pipe.

A host imports one solver and nothing of fairbox, so that it starts fast and can be ended at any moment.
"""
