cd "$EXAMPLES" && "$VRAMSCOPE" check --json --max-peak 10GiB --no-oom --max-unknown-share 5% \
    --headroom 1GiB --capacity 14GiB oom.pickle
