cd "$EXAMPLES" || exit 1
for file in train oom leak fragmentation; do
    COLUMNS=80 "$VRAMSCOPE" categories "$file.pickle" || exit
done
