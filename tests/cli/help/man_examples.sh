# Every example of the man pages runs; what they write stays here.
root=$(cd "$EXAMPLES/.." && pwd) || exit 1
ln -s "$root/examples" examples
vramscope() {
    "$VRAMSCOPE" "$@"
}
for page in "$root"/docs/man/vramscope*.scd; do
    sed -n '/^# EXAMPLES/,/^# [^E]/s/^\t//p' "$page" | grep -v '^source' | while IFS= read -r line; do
        eval "$line" >/dev/null || echo "failed: $line"
    done
done
