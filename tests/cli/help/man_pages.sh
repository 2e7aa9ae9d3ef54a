# The OPTIONS of each man page are those of the program.
for verb in report peak oom leaks fragments steps categories advise diff compare check replay export run doctor help trace; do
    "$VRAMSCOPE" help "$verb" --as=scd >options
    sed -n '/^# OPTIONS/,/^# EXAMPLES/p' "$EXAMPLES/../docs/man/vramscope-$verb.1.scd" |
        sed '$d' | sed '$d' >page
    diff page options
done
