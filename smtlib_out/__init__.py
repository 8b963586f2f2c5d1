"""Formulas as files for others: SMT-LIB scripts with their metadata, and the sidecar JSON beside them.

Here live the printer, the headers, the writer and the reader of scripts, and the plumbing of files. What a
formula means is `fairbox.encoder`'s business, who answers it is `fairbox.solvers`'s: nothing here builds a
constraint or runs a solver.
"""
