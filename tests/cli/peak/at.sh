cd "$EXAMPLES" || exit 1
for at in start end 100 oom oom:1 0.05s; do
    "$VRAMSCOPE" peak --at "$at" -n 1 oom.pickle | tail -n +3
done
