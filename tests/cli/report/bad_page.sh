# Of a page with many entries that cannot be read the first few are named, the rest counted.
{
    printf '<!DOCTYPE html><script>const local_files = ['
    for i in 1 2 3 4 5 6 7 8 9; do
        printf '{"name": "entry%s", "base64": "AAAA"}, ' $i
    done
    printf ']</script>'
} >page.html
"$VRAMSCOPE" report page.html
