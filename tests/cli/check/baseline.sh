cd "$EXAMPLES" && COLUMNS=100 "$VRAMSCOPE" check --baseline train.pickle --max-delta 10% --max-site-delta 1GiB \
    --no-new-site 0 --tolerance 1% --max-peak 110% leak.pickle
"$VRAMSCOPE" check --baseline train.pickle -o train.pickle --max-delta 10% leak.pickle
