cd "$EXAMPLES" && COLUMNS=200 "$VRAMSCOPE" advise --explain-silent train.pickle
