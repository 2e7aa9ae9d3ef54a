"""python -m vramscope.compat.gpumemprof."""
import sys

from vramscope.compat.gpumemprof.cli import main

if __name__ == "__main__":
    sys.exit(main())
