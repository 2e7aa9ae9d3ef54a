/* generator_mark.h - the generator mark, by which vramscope knows its own pages and pictures. */
#ifndef VRS_BASE_GENERATOR_MARK_H
#define VRS_BASE_GENERATOR_MARK_H

#define GENERATOR_MARK_PAGE                                                                        \
    "<meta name=\"generator\" content=\"vramscope\">" /* also in index.html */
#define GENERATOR_MARK_SVG "Drawn by vramscope "
#define GENERATOR_MARK_PNG "vramscope:plots"

#endif
