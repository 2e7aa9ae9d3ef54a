# Ranges of another tool.
printf "[{\"name\": \"a\", \"ph\": \"X\", \"ts\": 1, \"dur\": 3, \"pid\": 1, \"tid\": 1}]" | "$VRAMSCOPE" trace -
