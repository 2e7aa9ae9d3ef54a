# Names of memory: below the row of their line, each with its allocation's bytes; by name on rows of their own; by module.
awk 'BEGIN {
    base = 139637976727552; mib = 1048576; blocks = 9
    printf "{\"segments\": [{\"device\": 0, \"address\": %.0f, \"total_size\": %d, \"stream\": 0, \"segment_type\": \"large\", \"blocks\": [", base, 24 * blocks * mib
    for (i = 0; i < blocks; i++)
        printf "%s{\"address\": %.0f, \"size\": %d, \"requested_size\": %d, \"state\": \"active_allocated\", \"frames\": [{\"name\": \"build\", \"filename\": \"/home/u/net.py\", \"line\": 9}]}", (i ? ", " : ""), base + i * 24 * mib, 24 * mib, (24 - i) * mib
    printf "]}], \"device_traces\": [[]],\n\"vramscope\": {\"schema\": \"vramscope.extra/1\", \"names\": {\"time_us\": 1, \"dropped\": 0, \"tensors\": ["
    for (i = 1; i < blocks; i++)
        printf "%s{\"device\": 0, \"address\": %.0f, \"bytes\": %d, \"kind\": \"%s\", \"name\": \"%s\", \"shape\": [4096, %d], \"dtype\": \"float32\"}", (i == 1 ? "" : ", "), base + i * 24 * mib, 24 * mib, (i < 8 ? "parameter" : "tensor"), (i < 8 ? "transformer.encoder.layers." int(i / 2) (i % 2 ? ".self_attn.in_proj_weight" : ".linear.bias") : "mask"), 1536 - i * 64
    printf "]}}}\n"
}' >named.json
for by in culprit name path; do
    COLUMNS=80 "$VRAMSCOPE" peak --by "$by" named.json | sed -n '/^ *bytes/,/^$/p'
done
COLUMNS=40 "$VRAMSCOPE" peak named.json | sed -n '/^bytes/,/^$/p'
