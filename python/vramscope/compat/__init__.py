"""Drop-in modules: programs written for another profiler run after changing only the import."""
