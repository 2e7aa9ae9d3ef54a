"$VRAMSCOPE"
"$VRAMSCOPE" help | cmp - /dev/fd/3 3<<END
$("$VRAMSCOPE" --help)
END
