"""Orders to models and to the page fetcher: running, resuming, estimating, and handing them to a child process."""
