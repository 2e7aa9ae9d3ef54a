/* cpp_name.h - names of functions in C++, as kernels have them, without what is common. */
#ifndef VRS_RENDER_WRITE_CPP_NAME_H
#define VRS_RENDER_WRITE_CPP_NAME_H

#include "base/buf.h"
#include "base/str.h"

enum cpp_name {
    CPP_NAME_ARGUMENTS, /* without namespaces and parameters: "copy_kernel<4, AddFunctor<float>>" */
    CPP_NAME_FUNCTORS   /* and without template arguments that are numbers or types of the language;
                         * of nested ones the innermost: "reduce_kernel<sum_functor>" */
};

/* Appends `name`; what is no such name, or has brackets without a match, as it is. */
void cpp_name(struct buf *to, str name, enum cpp_name how);

#endif
