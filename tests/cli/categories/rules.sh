# The printed rules are a file of rules; a rule of one's own comes before them.
"$VRAMSCOPE" categories --print-rules >builtin.rules || exit 1
head -4 builtin.rules
cd "$EXAMPLES" || exit 1
"$VRAMSCOPE" categories --json --rules "$OLDPWD/builtin.rules" train.pickle >"$OLDPWD/twice.json"
"$VRAMSCOPE" categories --json train.pickle | cmp - "$OLDPWD/twice.json"
cat >"$OLDPWD/my.rules" <<'RULES'
rule my_loss temporary medium
  alloc.culprit ~ train.py:15
  size >= 1MiB
RULES
COLUMNS=80 "$VRAMSCOPE" categories --rules "$OLDPWD/my.rules" train.pickle | sed -n '8,17p'
