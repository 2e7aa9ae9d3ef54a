# Whether a driver is here depends on the machine: of its line only the form is checked.
driver() {
    sed -E -e 's/^ok       driver    ([0-9.]+|present): .* is there$/(driver)/' \
        -e 's/^missing  driver    none: reading needs none; record where .* is$/(driver)/'
}
"$VRAMSCOPE" doctor -o out.txt
echo "exit $?"
driver <out.txt
# Why the terminal is as it is.
why() {
    "$VRAMSCOPE" doctor "$@" | grep -E ' (width|colour|pictures) '
}
COLUMNS=100 why --color=always --ascii
COLUMNS=wide NO_COLOR=1 LC_ALL=C why --color=never
env -u LC_ALL LANG=de_DE.utf8 "$VRAMSCOPE" doctor | grep pictures
env -u LC_ALL -u LANG "$VRAMSCOPE" doctor | grep pictures
"$VRAMSCOPE" doctor run.pickle
echo "exit $?"
