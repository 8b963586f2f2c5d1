"""Scripts and sidecars: what is printed, who accepts it, what comes back."""
