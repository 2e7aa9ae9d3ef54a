head -c 100000 "$EXAMPLES/train.pickle" | COLUMNS=80 "$VRAMSCOPE" report -n 3 -
head -c 100000 "$EXAMPLES/train.pickle" | "$VRAMSCOPE" report --json - |
    sed '/"timeline": {/,/^      }/d' | grep -e bytes.: -e complete
