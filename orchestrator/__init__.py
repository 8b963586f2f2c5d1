"""What is asked when, and what it adds up to: tasks, workers, bounds, the jobs a user asks for. No printing."""
