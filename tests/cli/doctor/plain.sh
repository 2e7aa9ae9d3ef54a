# Whether a driver, SQLite and libmicrohttpd are here depends on the machine: of their lines only the form is checked.
machine() {
    sed -E -e 's/^ok       driver    ([0-9.]+|present): .* is there$/(driver)/' \
        -e 's/^missing  driver    none: reading needs none; record where .* is$/(driver)/' \
        -e 's/^ok       sqlite    found: export --to sqlite can write a database$/(sqlite)/' \
        -e 's/^missing  sqlite    none: export --to sqlite needs it: .*; install .*$/(sqlite)/' \
        -e 's/^ok       serve     found: view --serve can serve pages$/(serve)/' \
        -e 's/^missing  serve     none: .*; install libmicrohttpd .*$/(serve)/'
}
"$VRAMSCOPE" doctor -o out.txt
echo "exit $?"
machine <out.txt
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
