# Files without a line in common are no ranks of one job: their peaks are listed, not compared.
cd "$EXAMPLES" && "$VRAMSCOPE" report oom.pickle fragmentation.pickle
