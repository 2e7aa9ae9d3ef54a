# Files with the keys of a snapshot and nothing of one behind them, with the place of the key.
echo '{"segments": 5, "device_traces": []}' >number.json
echo '{"segments": [], "device_traces": [[[{}]], "x"]}' >deep.json
printf '\200\004}(\214\010segments]]a\214\001xNu.' >lists.pickle
printf '(dVdevice_traces\nI5\ns.' >old.pickle
echo '{"segments": [7, []]}' | gzip -n >packed.json.gz
printf '<script>"name": "one", "base64": "%s"</script>' "$(base64 <number.json)" >page.html
"$VRAMSCOPE" report number.json deep.json lists.pickle old.pickle packed.json.gz page.html
