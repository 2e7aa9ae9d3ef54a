# A device that has no such moment says so once, beside one that has.
alloc='{"action": "alloc", "addr": 4096, "size": 1000, "stream": 0}'
oom='{"action": "oom", "size": 4096, "device_free": 512, "stream": 0}'
echo "{\"segments\": [], \"device_traces\": [[$alloc, $oom], [$alloc]]}" >two.json
COLUMNS=80 "$VRAMSCOPE" peak --at oom two.json
