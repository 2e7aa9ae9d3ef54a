# Each kind of file is told which verb reads it.
cd "$EXAMPLES" && "$VRAMSCOPE" trace oom.pickle; echo "$?"
"$VRAMSCOPE" oom traces/training.pt.trace.json.gz; echo "$?"
printf "{\"segments\": [], \"device_traces\": [[]]}" | "$VRAMSCOPE" trace -
