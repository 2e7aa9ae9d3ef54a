# Free memory that belongs to another stream, and to a pool; a failure before it.
cat >streams.script <<'END'
capacity 3GiB
include torch.stacks
stack main run.py:50 main < run.py:55 <module>
stack cache @malloc < cache.py:31 extend < serve.py:12 decode < @main
stack pin @malloc < cache.py:35 note < serve.py:12 decode < @main
stack big @malloc < serve.py:20 gather < @main
repeat 40 {
  alloc page$i 12MiB cache stream 7
  alloc tail$i 6MiB pin stream 7
  alloc graph$i 12MiB cache pool 1
  alloc edge$i 6MiB pin pool 1
}
repeat 38 {
  free page$i
  free graph$i
}
alloc too_much 9GiB cache
alloc hold 1.2GiB cache
alloc all 500MiB big
END
"$MAKE_RECORDING" streams.script -o streams.pickle --library "$RECORDINGS"
COLUMNS=80 "$VRAMSCOPE" oom streams.pickle
