"""A model and a question become exact formulas: models, spaces, cells, boxes, properties, encodings. No solver and no file for others."""
