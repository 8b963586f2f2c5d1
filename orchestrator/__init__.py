"""What is asked when, and what it adds up to: tasks, workers, bounds, the jobs of a user; no printing."""
