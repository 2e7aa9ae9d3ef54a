"""`python -m vramscope run`: one process, its children, and the ranks of a job."""
