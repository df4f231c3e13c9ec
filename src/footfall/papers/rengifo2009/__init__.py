"""Rengifo, Aoustin, Chevallereau and Plestan 2009: penalty contact by input-output feedback linearisation."""
