# A file of a folder that is no recording is passed over, but with --strict it is one unchecked.
mkdir ranks && cp "$EXAMPLES/train.pickle" ranks/rank0.pickle
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >ranks/rank1.pickle
check() {
    "$VRAMSCOPE" check ranks "$@" | grep -v '^$'
    "$VRAMSCOPE" check ranks "$@" >/dev/null 2>&1
    echo "exit $?"
}
check --max-peak 80GiB
check --max-peak 80GiB --strict
check --max-peak 1GiB --strict
echo '{' >ranks/rank2.json
check --max-peak 80GiB --strict
