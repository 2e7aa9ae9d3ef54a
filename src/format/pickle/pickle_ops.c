/* pickle_ops.c - the tables behind pickle_ops.h. */
#include "format/pickle/pickle_ops.h"

#include <stdint.h>

static const uint8_t forms[256] = {
    [OP_MARK] = OP_FORM_BARE,
    [OP_EMPTY_TUPLE] = OP_FORM_BARE,
    [OP_STOP] = OP_FORM_BARE,
    [OP_POP] = OP_FORM_BARE,
    [OP_POP_MARK] = OP_FORM_BARE,
    [OP_FLOAT] = OP_FORM_LINE,
    [OP_BINFLOAT] = OP_FORM_FIXED,
    [OP_INT] = OP_FORM_LINE,
    [OP_BININT] = OP_FORM_FIXED,
    [OP_BININT1] = OP_FORM_FIXED,
    [OP_LONG] = OP_FORM_LINE,
    [OP_BININT2] = OP_FORM_FIXED,
    [OP_NONE] = OP_FORM_BARE,
    [OP_UNICODE] = OP_FORM_LINE,
    [OP_BINUNICODE] = OP_FORM_STRING,
    [OP_EMPTY_LIST] = OP_FORM_BARE,
    [OP_APPEND] = OP_FORM_BARE,
    [OP_GLOBAL] = OP_FORM_GLOBAL,
    [OP_DICT] = OP_FORM_BARE,
    [OP_APPENDS] = OP_FORM_BARE,
    [OP_GET] = OP_FORM_LINE,
    [OP_BINGET] = OP_FORM_FIXED,
    [OP_LONG_BINGET] = OP_FORM_FIXED,
    [OP_LIST] = OP_FORM_BARE,
    [OP_PUT] = OP_FORM_LINE,
    [OP_BINPUT] = OP_FORM_FIXED,
    [OP_LONG_BINPUT] = OP_FORM_FIXED,
    [OP_SETITEM] = OP_FORM_BARE,
    [OP_TUPLE] = OP_FORM_BARE,
    [OP_SETITEMS] = OP_FORM_BARE,
    [OP_EMPTY_DICT] = OP_FORM_BARE,
    [OP_TUPLE1] = OP_FORM_BARE,
    [OP_TUPLE2] = OP_FORM_BARE,
    [OP_TUPLE3] = OP_FORM_BARE,
    [OP_NEWTRUE] = OP_FORM_BARE,
    [OP_NEWFALSE] = OP_FORM_BARE,
    [OP_LONG1] = OP_FORM_LONG,
    [OP_LONG4] = OP_FORM_LONG,
    [OP_SHORT_BINUNICODE] = OP_FORM_STRING,
    [OP_BINUNICODE8] = OP_FORM_STRING,
    [OP_MEMOIZE] = OP_FORM_BARE,
    [OP_FRAME] = OP_FORM_FRAME,
};

static const char *const refused[256] = {
    ['2'] = "DUP",
    ['B'] = "BINBYTES",
    ['C'] = "SHORT_BINBYTES",
    ['P'] = "PERSID",
    ['Q'] = "BINPERSID",
    ['R'] = "REDUCE",
    ['S'] = "STRING",
    ['T'] = "BINSTRING",
    ['U'] = "SHORT_BINSTRING",
    ['b'] = "BUILD",
    ['i'] = "INST",
    ['o'] = "OBJ",
    [OP_PROTO] = "PROTO",
    [0x81] = "NEWOBJ",
    [0x82] = "EXT1",
    [0x83] = "EXT2",
    [0x84] = "EXT4",
    [0x8e] = "BINBYTES8",
    [0x8f] = "EMPTY_SET",
    [0x90] = "ADDITEMS",
    [0x91] = "FROZENSET",
    [0x92] = "NEWOBJ_EX",
    [0x93] = "STACK_GLOBAL",
    [0x96] = "BYTEARRAY8",
    [0x97] = "NEXT_BUFFER",
    [0x98] = "READONLY_BUFFER",
};

enum op_form pickle_op_form(unsigned op)
{
    return (enum op_form)forms[op];
}

size_t pickle_op_bytes(unsigned op)
{
    switch (op) {
    case OP_BININT1:
    case OP_BINPUT:
    case OP_BINGET:
        return 2;
    case OP_BININT2:
        return 3;
    case OP_BINFLOAT:
        return 9;
    default:
        return 5;
    }
}

const char *pickle_op_name(unsigned op)
{
    return refused[op];
}
