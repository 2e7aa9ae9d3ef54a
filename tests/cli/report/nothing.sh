# A recording of nothing says how to make a better one.
echo '{"segments": [], "device_traces": []}' >none.json
echo '{"segments": [], "device_traces": [[], []]}' >empty.json
"$VRAMSCOPE" report none.json
"$VRAMSCOPE" report empty.json
"$VRAMSCOPE" peak none.json
"$VRAMSCOPE" report none.json empty.json
