"$MAKE_RECORDING" "$RECORDINGS/leak.script" -o leak.pickle || exit 1
"$VRAMSCOPE" export leak.pickle --to folded | sed 's/;.*;/;...;/'
"$VRAMSCOPE" export leak.pickle --to folded --inverse --weight count --at 20 | sed 's/;.*;/;...;/'
"$VRAMSCOPE" export leak.pickle --to speedscope | grep -v '{ "name"' | cut -c -80
