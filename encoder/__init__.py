"""A model and a question become exact formulas: models, spaces, cells, boxes, properties, encodings.

No solver, no process and no file for other programs lives here.
"""
