cd "$EXAMPLES" && COLUMNS=80 "$VRAMSCOPE" check --max-peak 10GiB --max-end 6GiB --no-oom \
    --headroom 1GiB --capacity 14GiB --max-site 'model\.py=5GiB' --max-unknown-share 5% train.pickle
