/* generator_mark.h - what pages and pictures bear near their beginning, so that they are known
 * again. */
#ifndef VRS_BASE_GENERATOR_MARK_H
#define VRS_BASE_GENERATOR_MARK_H

#define GENERATOR_MARK_PAGE                                                                        \
    "<meta name=\"generator\" content=\"vramscope\">" /* also in index.html */
#define GENERATOR_MARK_SVG "Drawn by vramscope "
#define GENERATOR_MARK_PNG "vramscope:plots"

#endif
