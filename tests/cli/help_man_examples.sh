# Every example of the man pages runs.
cd "$EXAMPLES/.." || exit 1
vramscope() {
    "$VRAMSCOPE" "$@"
}
for page in docs/man/vramscope*.scd; do
    sed -n '/^# EXAMPLES/,/^# [^E]/s/^\t//p' "$page" | grep -v '^source' | while IFS= read -r line; do
        eval "$line" >/dev/null || echo "failed: $line"
    done
done
