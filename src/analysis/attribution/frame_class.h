/* frame_class.h - classes of frames: what the names in a frame tell of the code it runs. */
#ifndef VRS_ANALYSIS_ATTRIBUTION_FRAME_CLASS_H
#define VRS_ANALYSIS_ATTRIBUTION_FRAME_CLASS_H

#include <stdbool.h>

#include "base/str.h"

enum frame_class {
    FRAME_NATIVE,
    FRAME_TORCH,
    FRAME_GENERATED,
    FRAME_LIBRARY,
    FRAME_STD,
    FRAME_USER
};

/* What a person says of whose code is whose. */
struct frame_class_options {
    str user_root; /* frames under this folder are the user's; empty: none */
    str library;   /* frames whose path matches this glob are a library's; empty: none */
};

/* The class of a file; the first rule that matches decides, paths being compared with `\` as `/`
 * and without regard to case. */
enum frame_class classify_file(str file, const struct frame_class_options *options);

/* Is the file no Python source?  Asked of every frame, hence apart from the other classes. */
bool file_is_native(str file);

/* Does `needle` stand anywhere in `path`?  Compared as paths are. */
bool path_has(str path, str needle);

/* The end of a path, all that its classes are told by.  No path is longer; a text that is, and that
 * many frames share, must not cost its length for each. */
enum { PATH_TAIL_BYTES = 1024 };
str path_tail(str path);

/* The last part of a path, of either kind. */
str path_base(str path);

/* Does `text` match a glob of `*` (any run, `/` too) and `?`?  Compared as paths are. */
bool glob_matches(str glob, str text);

/* A call of a module's forward, which stands between the lines of any two modules. */
bool frame_is_module_call(str file, str function);

/* Wrappers that own nothing: thin layers over torch, whatever function of theirs runs; and module
 * calls and decorators, in any file. */
bool file_is_plumbing(str file);
bool call_is_plumbing(str file, str function);

/* As much of a native name as is looked at: what it runs stands at its begin, before template
 * arguments of any length.  A longer text, too, is shared by many frames. */
enum { NATIVE_NAME_BYTES = 512 };

/* "MmBackward0" of a native name that runs a node of the autograd graph; else empty. */
str backward_node(str native);

/* The operator a native name runs, without its overload; empty where the name is no evidence. */
str native_operator(str native);

/* Operators that only make memory for another one. */
bool operator_only_makes_memory(str operator_name);

#endif
