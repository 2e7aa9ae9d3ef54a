# A file that ends too early is read as far as it goes.
cat "$EXAMPLES/traces/training.pt.trace.json.gz" | gzip -dc | head -c 100000 | "$VRAMSCOPE" trace -n 1 -
