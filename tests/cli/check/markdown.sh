cd "$EXAMPLES" && "$VRAMSCOPE" check --format markdown --max-peak 11534336000 --max-device-peak 3=1GiB \
    --no-oom train.pickle oom.pickle
