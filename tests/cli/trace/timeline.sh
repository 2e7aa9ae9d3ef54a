# Memory timelines, both forms of one run: what was there before, a peak, a sum below 0.
states="[[10, 10, 12.5, 40, 41], [[0, 4096, 0, 512, 0, 0, 0, 0, 0], [0, 4096, 0, 512, 0, 2048, 0, 0, 0],
[0, 4096, 0, 512, 64, 2048, 1024, 0, 0], [0, 4096, 0, 512, -64, 0, 1024, 256, 0], [0, 4096, 1024, 512, -64, 0, 0, 0, 8]]]"
events="[[-1, 1, 4096, 0], [-1, 1, 512, 2], [10000, 2, 2048, 4], [12500, 2, 64, 3], [12500, 2, 1024, 5], [40000, 4, -128, 3],
[40000, 4, -2048, 4], [40000, 2, 256, 6], [41000, 2, 1024, 1], [41000, 3, -1024, 5], [41000, 3, 1024, 7], [41000, 4, -256, 6]]"
printf "%s" "$states" | gzip -n >states.json.gz
printf "%s" "$events" >events.json
"$VRAMSCOPE" trace states.json.gz
"$VRAMSCOPE" trace -n 2 events.json
"$VRAMSCOPE" report --ascii events.json
"$VRAMSCOPE" trace --csv events.json
"$VRAMSCOPE" export --to csv states.json.gz
"$VRAMSCOPE" export --to csv -t timeline events.json
"$VRAMSCOPE" trace --json states.json.gz
"$VRAMSCOPE" trace states.json.gz events.json | grep -c "^peak"
