# Ctrl-C while a pipe is read: nothing half-written stays, and the status says so.
mkfifo pipe
exec 3<>pipe
timeout --preserve-status --signal=INT 0.3 "$VRAMSCOPE" report -o out.txt pipe
echo "exit $?"
ls -A
