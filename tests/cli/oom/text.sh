# The text of the error says what the card has; a text alone where the trace holds no such event.
cd "$EXAMPLES" || exit 1
said="CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 31.73 GiB of which 214.00 MiB is \
free. Including non-PyTorch memory, this process has 25.10 GiB memory in use."
COLUMNS=80 "$VRAMSCOPE" oom --message "$said" oom.pickle
COLUMNS=80 "$VRAMSCOPE" oom --message "$said" --ascii leak.pickle
COLUMNS=80 "$VRAMSCOPE" oom leak.pickle
