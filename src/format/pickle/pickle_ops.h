/* pickle_ops.h - the pickle opcodes: their bytes, their names, what their arguments look like. */
#ifndef VRS_FORMAT_PICKLE_PICKLE_OPS_H
#define VRS_FORMAT_PICKLE_PICKLE_OPS_H

#include <stddef.h>
#include <stdint.h>

enum pickle_op {
    OP_MARK = 0x28,
    OP_EMPTY_TUPLE = 0x29,
    OP_STOP = 0x2e,
    OP_POP = 0x30,
    OP_POP_MARK = 0x31,
    OP_FLOAT = 0x46,
    OP_BINFLOAT = 0x47,
    OP_INT = 0x49,
    OP_BININT = 0x4a,
    OP_BININT1 = 0x4b,
    OP_LONG = 0x4c,
    OP_BININT2 = 0x4d,
    OP_NONE = 0x4e,
    OP_UNICODE = 0x56,
    OP_BINUNICODE = 0x58,
    OP_EMPTY_LIST = 0x5d,
    OP_APPEND = 0x61,
    OP_GLOBAL = 0x63,
    OP_DICT = 0x64,
    OP_APPENDS = 0x65,
    OP_GET = 0x67,
    OP_BINGET = 0x68,
    OP_LONG_BINGET = 0x6a,
    OP_LIST = 0x6c,
    OP_PUT = 0x70,
    OP_BINPUT = 0x71,
    OP_LONG_BINPUT = 0x72,
    OP_SETITEM = 0x73,
    OP_TUPLE = 0x74,
    OP_SETITEMS = 0x75,
    OP_EMPTY_DICT = 0x7d,
    OP_PROTO = 0x80,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_LONG4 = 0x8b,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_BINUNICODE8 = 0x8d,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95
};

enum op_form {
    OP_FORM_REFUSED, /* and every byte that is no opcode */
    OP_FORM_BARE,    /* one byte */
    OP_FORM_FIXED,   /* pickle_op_bytes of them */
    OP_FORM_STRING,  /* a length, then that many bytes */
    OP_FORM_LONG,    /* the same, an integer */
    OP_FORM_LINE,    /* text up to a newline */
    OP_FORM_FRAME,
    OP_FORM_GLOBAL
};

extern const uint8_t pickle_op_forms[256];

/* Of any byte. */
static inline enum op_form pickle_op_form(unsigned op)
{
    return (enum op_form)pickle_op_forms[op];
}

/* Bytes of an OP_FORM_FIXED opcode with its argument. */
static inline size_t pickle_op_bytes(unsigned op)
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

/* The name of an opcode that exists and is refused (PROTO too, where it may not stand), or NULL. */
const char *pickle_op_name(unsigned op);

#endif
