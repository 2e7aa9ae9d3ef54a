# What is refused, and in which words.
try() {
    printf '%s' "$1" >my.rules
    "$VRAMSCOPE" categories --rules my.rules "$EXAMPLES/train.pickle"
    echo "$?"
}
try '  born = forward
'
try 'rule a gradient high
  borm = forward
'
try 'rule a gradients high
'
try 'rule a gradient high
rule b gradient high
  size = 3
'
try 'rule b gradient high
  size = 3

rule a gradient high
'
try 'rule a gradient sure
'
try 'rule a gradient high
  born = forwards
'
try 'rule a gradient high
  size ~ 3
'
try 'rule a gradient high
  size = 3XiB
'
try '
# a comment
rule a gradient high # another
  alloc.any ~ (
'
try 'rule a gradient high
  alloc.any ~ ((((a{1,99}){1,99}){1,99}){1,99}){1,99}
'
try 'rules
'
try 'plumbing
'
"$VRAMSCOPE" categories --rules missing.rules "$EXAMPLES/train.pickle"
echo "$?"
"$VRAMSCOPE" categories --at never "$EXAMPLES/train.pickle"
echo "$?"
"$VRAMSCOPE" categories --print-rules extra
echo "$?"
