"""Background work: periodic jobs, other processes, work with limits."""
