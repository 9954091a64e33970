"""The limits of an input of at most 3 MB: memory in MB, and CPU time in seconds on two cores."""

MEMORY, SECONDS = 500, 5
