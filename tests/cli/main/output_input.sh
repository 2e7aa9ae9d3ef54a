# The recording itself is no place for its report: by name, through a link, out of a folder.
cp "$EXAMPLES/leak.pickle" only.pickle
ln -s only.pickle link
for o in only.pickle ./only.pickle link; do
    "$VRAMSCOPE" report -o "$o" only.pickle
    echo "exit $?"
done
mkdir ranks && cp only.pickle ranks
"$VRAMSCOPE" report --json -o ranks/only.pickle ranks
echo "exit $?"
cmp only.pickle "$EXAMPLES/leak.pickle" && cmp ranks/only.pickle only.pickle && echo untouched
