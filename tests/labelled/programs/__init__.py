"""Programs of known truth, one a file; README.md beside this folder says how they are written."""
