# What the recorded process called the memory that stays stands beside its line; the text of a name is escaped.
awk 'BEGIN {
    base = 139637976727552; mib = 1048576; steps = 8
    printf "{\"segments\": [{\"device\": 0, \"address\": %.0f, \"total_size\": %d, \"stream\": 0, \"segment_type\": \"large\", \"blocks\": [", base, 256 * mib
    for (i = 0; i < steps; i++)
        printf "{\"address\": %.0f, \"size\": %d, \"requested_size\": %d, \"state\": \"active_allocated\", \"frames\": []}, ", base + i * 12 * mib, 12 * mib, 12 * mib
    printf "{\"address\": %.0f, \"size\": %d, \"requested_size\": 0, \"state\": \"inactive\", \"frames\": []}]}],\n", base + steps * 12 * mib, (256 - 12 * steps) * mib
    printf "\"device_traces\": [[{\"action\": \"segment_alloc\", \"addr\": %.0f, \"size\": %d, \"stream\": 0, \"time_us\": 1}", base, 256 * mib
    for (i = 0; i < steps; i++)
        printf ", {\"action\": \"alloc\", \"addr\": %.0f, \"size\": %d, \"stream\": 0, \"time_us\": %d, \"frames\": [{\"name\": \"train\", \"filename\": \"/home/u/run.py\", \"line\": 22}]}", base + i * 12 * mib, 12 * mib, 100 * i + 50
    printf "]],\n\"external_annotations\": ["
    for (i = 0; i < steps; i++)
        printf "%s{\"name\": \"step %d\", \"stage\": \"START\", \"device\": 0, \"time_us\": %d}, {\"name\": \"step %d\", \"stage\": \"END\", \"device\": 0, \"time_us\": %d}", (i ? ", " : ""), i, 100 * i + 10, i, 100 * i + 90
    printf "],\n\"vramscope\": {\"schema\": \"vramscope.extra/1\", \"names\": {\"time_us\": 1000, \"dropped\": 0, \"tensors\": ["
    for (i = 1; i < steps; i++)
        printf "%s{\"device\": 0, \"address\": %.0f, \"bytes\": %d, \"kind\": \"tensor\", \"name\": \"%s[%d]\", \"shape\": [%d, 512, 512], \"dtype\": \"bfloat16\"}", (i == 1 ? "" : ", "), base + i * 12 * mib, 12 * mib - i * 512, (i == 1 ? "\\u001b[31mtrain.losses" : "train.losses"), i, 24 - i
    printf "]}}}\n"
}' >named.json
COLUMNS=80 "$VRAMSCOPE" leaks named.json
"$VRAMSCOPE" leaks --json named.json | sed -n '/"named_bytes"/,/]/p'
