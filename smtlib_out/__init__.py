"""Files for others: SMT-LIB writer and reader, logics, names, sidecar JSON. No solver is run here."""
