# Names that would clear the screen, colour it, or turn the text around are shown as text.
cat >run.json <<'END'
{"segments": [{"device": 0, "address": 4096, "total_size": 2097152, "stream": 0,
  "segment_type": "small", "blocks": [{"address": 4096, "size": 2097152,
  "requested_size": 2097000, "state": "active_allocated", "frames": [{"name":
  "for\u001b[2J\u001b]0;title\u0007ward\u202e\u2066\u0085\r\n", "filename":
  "/home/user/mo\u001b[31mdel.py", "line": 7}]}]}], "device_traces": [[]]}
END
mv run.json "$(printf 'run\033[31m.json')"
"$VRAMSCOPE" report run*.json
"$VRAMSCOPE" peak --stacks run*.json
"$VRAMSCOPE" report --json run*.json | grep path
"$VRAMSCOPE" peak --json run*.json | tail -5
printf 'x' >"$(printf 'bad\033[31m\n.json')"
"$VRAMSCOPE" report bad*
