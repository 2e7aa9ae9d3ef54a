# Changed code: what one line costs, and what half of it would.
cd "$EXAMPLES" || exit 1
COLUMNS=200 "$VRAMSCOPE" replay --drop train.py:45 --smallest leak.pickle
COLUMNS=200 "$VRAMSCOPE" replay --scale model.py:22=0.5 --capacity 25295847424 oom.pickle
