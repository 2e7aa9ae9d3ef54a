# What it does not read, and words that mean nothing.
cd "$EXAMPLES"
"$VRAMSCOPE" diagnose; echo "$?"
"$VRAMSCOPE" diagnose train.pickle; echo "$?"
"$VRAMSCOPE" diagnose --threshold busy=1 traces/training.pt.trace.json.gz; echo "$?"
echo "[[17, 2, 512, 1]]" | "$VRAMSCOPE" diagnose -; echo "$?"
"$VRAMSCOPE" diagnose --csv traces/training.pt.trace.json.gz; echo "$?"
