cd "$EXAMPLES" || exit 1
try() {
    "$VRAMSCOPE" "$@"
    echo "exit $?"
}
try pek run.pickle
try leeks run.pickle
try --json run.pickle
try --versoin
try oom.pickle
try report --stacks oom.pickle
try report -s oom.pickle
try report --by owner oom.pickle
try report --dev 0 oom.pickle
try report
try report --jsn run.pickle
try report --bogus run.pickle
try nonsense run.pickle
try REPORT run.pickle
try report --JSON run.pickle
try export --to csv .
try peak --stacks=yes run.pickle
try peak -x run.pickle
try peak --at
try peak --by colour run.pickle
try peak -n 0 run.pickle
for count in 0 -1 x 65 100000 99999999999999999999 ''; do
    try report --threads "$count" oom.pickle
done
try peak -n 4294967296 oom.pickle
try view --serve --port 65536 oom.pickle
try peak --device x run.pickle
try report --limit nothing=1 run.pickle
try report --limit nesting run.pickle
try report --limit items=1TiB oom.pickle
try diff --limit items=1TiB oom.pickle leak.pickle
try view --limit items=1TiB oom.pickle leak.pickle -o -
try peak --at later oom.pickle
try peak --at oom:7 oom.pickle
try peak --device 7 oom.pickle
try peak --device 7 oom.pickle leak.pickle
try peak --device 7 oom.pickle missing.pickle
try help nothing
try help foo
try lst
try report ''
try report oom.pickle ''
try diff oom.pickle ''
try view ''
try export --to csv ''
try view --serve ''
try check --budget '' oom.pickle
try check --baseline= oom.pickle
try report --quick -o '' oom.pickle
try replay --write= oom.pickle
try report --user-root= oom.pickle
try view --user-root '' oom.pickle
try oom --message @ oom.pickle
