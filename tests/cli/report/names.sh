# The lines to type quote a name as a shell does, unless it cannot be shown.
for name in -x.pickle "it's one.pickle" naïve.pickle "$(printf 'bad\377.pickle')"; do
    cp "$EXAMPLES/oom.pickle" "./$name"
    "$VRAMSCOPE" report -- "$name" | grep -e '--stacks'
done
"$VRAMSCOPE" report --ascii naïve.pickle | grep -e '--stacks'
