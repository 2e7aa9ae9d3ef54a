cd "$EXAMPLES" || exit 1
"$VRAMSCOPE" export leak.pickle --to csv | head -n 4 | cut -c -120
for table in devices events curves segments blocks sites stacks frames marks settings; do
    "$VRAMSCOPE" export leak.pickle --to csv -t $table | head -n 2 | cut -c -120
done
"$VRAMSCOPE" export leak.pickle --to json -t devices -t marks | head -n 12
