# Of more phases than are shown one is that of the peak; the command that shows all runs as printed.
cd "$EXAMPLES" && "$VRAMSCOPE" steps train.pickle --rows 1
