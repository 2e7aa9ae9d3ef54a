# A row of several stacks shows the one with most of its bytes, and says of how many.
cd "$EXAMPLES" && "$VRAMSCOPE" peak train.pickle --stacks -n 2
