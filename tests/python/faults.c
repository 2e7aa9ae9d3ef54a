/* faults.c - stands between the extension and what allocates for it: fails one call on demand, and
 * counts the memory of the C library that is in use. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* How many calls succeed before one fails; negative: none does. */
static atomic_long left = -1;
static atomic_long in_use;
static atomic_bool fired;

#define EXPORTED __attribute__((visibility("default")))
EXPORTED void faults_begin(long calls);
EXPORTED bool faults_end(void);
EXPORTED long faults_in_use(void);

void faults_begin(long calls)
{
    atomic_store(&fired, false);
    atomic_store(&left, calls);
}

/* Whether a call failed. */
bool faults_end(void)
{
    atomic_store(&left, -1);
    return atomic_load(&fired);
}

long faults_in_use(void)
{
    return atomic_load(&in_use);
}

static bool fails(void)
{
    if (atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 0)
        return false;
    atomic_store(&fired, true);
    errno = ENOMEM;
    return true;
}

/* Of the C library. */

static void *counted(void *memory)
{
    if (memory != NULL)
        atomic_fetch_add(&in_use, 1);
    return memory;
}

#define WRAP(type, name, parameters)                                                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters

WRAP(void *, malloc, (size_t size))
{
    return fails() ? NULL : counted(__real_malloc(size));
}

WRAP(void *, calloc, (size_t count, size_t size))
{
    return fails() ? NULL : counted(__real_calloc(count, size));
}

WRAP(void *, realloc, (void *memory, size_t size))
{
    if (fails())
        return NULL;
    void *moved = __real_realloc(memory, size);
    return memory == NULL ? counted(moved) : moved;
}

WRAP(void, free, (void *memory))
{
    if (memory != NULL)
        atomic_fetch_sub(&in_use, 1);
    __real_free(memory);
}

WRAP(char *, strdup, (const char *text))
{
    return fails() ? NULL : counted(__real_strdup(text));
}

WRAP(char *, realpath, (const char *path, char *to))
{
    if (to != NULL)
        return __real_realpath(path, to);
    return fails() ? NULL : counted(__real_realpath(path, to));
}

WRAP(void *, PyMem_Malloc, (size_t size))
{
    return fails() ? NULL : __real_PyMem_Malloc(size);
}

WRAP(void *, PyMem_Realloc, (void *memory, size_t size))
{
    return fails() ? NULL : __real_PyMem_Realloc(memory, size);
}

WRAP(void *, PyMem_Calloc, (size_t count, size_t size))
{
    return fails() ? NULL : __real_PyMem_Calloc(count, size);
}

WRAP(PyThread_type_lock, PyThread_allocate_lock, (void))
{
    return fails() ? NULL : __real_PyThread_allocate_lock();
}

/* Of Python: NULL, or -1, with MemoryError. */

#define OBJECT(name, parameters, arguments)                                                        \
    WRAP(PyObject *, name, parameters)                                                             \
    {                                                                                              \
        return fails() ? PyErr_NoMemory() : __real_##name arguments;                               \
    }
#define NUMBER(name, parameters, arguments)                                                        \
    WRAP(int, name, parameters)                                                                    \
    {                                                                                              \
        return fails() ? (PyErr_NoMemory(), -1) : __real_##name arguments;                         \
    }

OBJECT(_PyObject_New, (PyTypeObject * type), (type))
OBJECT(_PyObject_GC_New, (PyTypeObject * type), (type))
OBJECT(PyList_New, (Py_ssize_t len), (len))
OBJECT(PyDict_New, (void), ())
OBJECT(PyBytes_FromStringAndSize, (const char *text, Py_ssize_t len), (text, len))
OBJECT(PyUnicode_FromString, (const char *text), (text))
OBJECT(PyUnicode_DecodeUTF8, (const char *text, Py_ssize_t len, const char *errors),
       (text, len, errors))
OBJECT(PyUnicode_AsUTF8String, (PyObject * text), (text))
OBJECT(PyUnicode_AsEncodedString, (PyObject * text, const char *encoding, const char *errors),
       (text, encoding, errors))
OBJECT(PyUnicode_DecodeFSDefault, (const char *text), (text))
OBJECT(PySequence_List, (PyObject * of), (of))
OBJECT(PySequence_Tuple, (PyObject * of), (of))
OBJECT(PyLong_FromUnsignedLongLong, (unsigned long long n), (n))
OBJECT(PyLong_FromLongLong, (long long n), (n))
OBJECT(PyFloat_FromDouble, (double n), (n))
OBJECT(PyObject_GetAttrString, (PyObject * of, const char *name), (of, name))
OBJECT(PyObject_Str, (PyObject * of), (of))
OBJECT(PyObject_Repr, (PyObject * of), (of))
OBJECT(PyMapping_Items, (PyObject * of), (of))
OBJECT(PyObject_GetIter, (PyObject * of), (of))
OBJECT(PyMemoryView_FromObject, (PyObject * of), (of))
OBJECT(PyMemoryView_FromMemory, (char *memory, Py_ssize_t len, int flags), (memory, len, flags))
OBJECT(PyImport_ImportModule, (const char *name), (name))
NUMBER(PyList_Append, (PyObject * list, PyObject *item), (list, item))
NUMBER(PyDict_SetItem, (PyObject * dict, PyObject *key, PyObject *item), (dict, key, item))
NUMBER(PyDict_SetItemString, (PyObject * dict, const char *key, PyObject *item), (dict, key, item))

/* A converter says 0 for what failed; NULL is how a parser has its object back. */
WRAP(int, PyUnicode_FSConverter, (PyObject * path, void *to))
{
    return path != NULL && fails() ? (PyErr_NoMemory(), 0) : __real_PyUnicode_FSConverter(path, to);
}

PyObject *__wrap_PyUnicode_FromFormat(const char *format, ...);
PyObject *__wrap_PyUnicode_FromFormat(const char *format, ...)
{
    va_list arguments;
    if (fails())
        return PyErr_NoMemory();
    va_start(arguments, format);
    PyObject *made = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    return made;
}

/* With PY_SSIZE_T_CLEAN it may have another name. */
PyObject *__wrap_Py_BuildValue(const char *format, ...);
PyObject *__wrap_Py_BuildValue(const char *format, ...)
{
    va_list arguments;
    if (fails())
        return PyErr_NoMemory();
    va_start(arguments, format);
    PyObject *made = Py_VaBuildValue(format, arguments);
    va_end(arguments);
    return made;
}
