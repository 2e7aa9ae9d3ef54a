for f in oom leak; do cp "$EXAMPLES/$f.pickle" .; done
"$VRAMSCOPE" report --markdown oom.pickle leak.pickle
"$VRAMSCOPE" report --markdown --ascii -n 2 leak.pickle
"$VRAMSCOPE" report --markdown --json oom.pickle
echo $?
