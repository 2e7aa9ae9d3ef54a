"$VRAMSCOPE" --version
