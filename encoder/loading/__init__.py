"""One file per model library, each turning its stored model into an `Ensemble`.

Nothing here knows of questions or formulas.
"""
