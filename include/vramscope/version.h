/* version.h - which libvramscope this is. */
#ifndef VRAMSCOPE_VERSION_H
#define VRAMSCOPE_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is running, such as "0.1.0"; never freed. */
__attribute__((visibility("default"))) const char *vrs_version(void);

#ifdef __cplusplus
}
#endif

#endif
