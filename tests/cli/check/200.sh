cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" check --max-peak 10GiB --max-end 6GiB --no-oom \
    --max-slack 1MiB --baseline train.pickle --max-delta 0% --max-reserved 110% train.pickle oom.pickle
