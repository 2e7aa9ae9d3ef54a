/* pickle_ops.c - the tables behind pickle_ops.h. */
#include "format/pickle_ops.h"

#include <stdint.h>

static const uint8_t forms[256] = {
    [OP_MARK] = FORM_BARE,
    [OP_EMPTY_TUPLE] = FORM_BARE,
    [OP_STOP] = FORM_BARE,
    [OP_POP] = FORM_BARE,
    [OP_POP_MARK] = FORM_BARE,
    [OP_FLOAT] = FORM_LINE,
    [OP_BINFLOAT] = FORM_FIXED,
    [OP_INT] = FORM_LINE,
    [OP_BININT] = FORM_FIXED,
    [OP_BININT1] = FORM_FIXED,
    [OP_LONG] = FORM_LINE,
    [OP_BININT2] = FORM_FIXED,
    [OP_NONE] = FORM_BARE,
    [OP_UNICODE] = FORM_LINE,
    [OP_BINUNICODE] = FORM_STRING,
    [OP_EMPTY_LIST] = FORM_BARE,
    [OP_APPEND] = FORM_BARE,
    [OP_GLOBAL] = FORM_GLOBAL,
    [OP_DICT] = FORM_BARE,
    [OP_APPENDS] = FORM_BARE,
    [OP_GET] = FORM_LINE,
    [OP_BINGET] = FORM_FIXED,
    [OP_LONG_BINGET] = FORM_FIXED,
    [OP_LIST] = FORM_BARE,
    [OP_PUT] = FORM_LINE,
    [OP_BINPUT] = FORM_FIXED,
    [OP_LONG_BINPUT] = FORM_FIXED,
    [OP_SETITEM] = FORM_BARE,
    [OP_TUPLE] = FORM_BARE,
    [OP_SETITEMS] = FORM_BARE,
    [OP_EMPTY_DICT] = FORM_BARE,
    [OP_TUPLE1] = FORM_BARE,
    [OP_TUPLE2] = FORM_BARE,
    [OP_TUPLE3] = FORM_BARE,
    [OP_NEWTRUE] = FORM_BARE,
    [OP_NEWFALSE] = FORM_BARE,
    [OP_LONG1] = FORM_LONG,
    [OP_LONG4] = FORM_LONG,
    [OP_SHORT_BINUNICODE] = FORM_STRING,
    [OP_BINUNICODE8] = FORM_STRING,
    [OP_MEMOIZE] = FORM_BARE,
    [OP_FRAME] = FORM_FRAME,
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

enum pickle_form pickle_op_form(unsigned op)
{
    return (enum pickle_form)forms[op];
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
