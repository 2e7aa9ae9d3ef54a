# Five files whose names differ only at the end can be told apart in a narrow table.
mkdir ranks
for rank in 0 1 2 3 10; do
    cp "$EXAMPLES/oom.pickle" ranks/memory_snapshot_rank$rank.pickle
done
COLUMNS=80 "$VRAMSCOPE" report ranks
COLUMNS=66 "$VRAMSCOPE" report --ascii ranks/*
COLUMNS=160 "$VRAMSCOPE" report ranks/*
COLUMNS=56 "$VRAMSCOPE" peak --by file ranks/memory_snapshot_rank0.pickle
COLUMNS=56 "$VRAMSCOPE" peak --by module ranks/memory_snapshot_rank0.pickle
