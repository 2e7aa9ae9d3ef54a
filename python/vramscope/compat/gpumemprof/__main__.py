"""python -m vramscope.compat.gpumemprof."""
import sys

from vramscope.compat.gpumemprof.cli import main

sys.exit(main())
