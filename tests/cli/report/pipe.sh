# Not a terminal: a line instead of a picture; a locale without UTF-8: ASCII.
cd "$EXAMPLES" && "$VRAMSCOPE" report leak.pickle && LC_ALL=C "$VRAMSCOPE" report -n 1 leak.pickle
