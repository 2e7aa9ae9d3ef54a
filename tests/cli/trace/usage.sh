"$VRAMSCOPE" trace; echo "$?"
printf "{}" | "$VRAMSCOPE" trace -; echo "$?"
printf "[1, 2]" | "$VRAMSCOPE" trace -; echo "$?"
printf "" | "$VRAMSCOPE" trace -; echo "$?"
