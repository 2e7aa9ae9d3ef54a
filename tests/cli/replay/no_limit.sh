# Without a limit nothing can fail: that is said once, with the command that asks about the failure.
cd "$EXAMPLES" && "$VRAMSCOPE" replay oom.pickle --sweep
