"""The build back end that pip calls: mesonpy, told where there is no stable interface to build for."""

import sys
import sysconfig

if sys.implementation.name != "cpython":
    sys.exit(f"vramscope is built for CPython, not for {sys.implementation.name}")

import mesonpy

OLDEST = (0, 18)  # earlier ones do not know a licence expression beside limited-api
if tuple(map(int, mesonpy.__version__.split(".")[:2])) < OLDEST:
    sys.exit(f"meson-python {mesonpy.__version__} is too old, 0.18 is wanted: pip without "
             "--no-build-isolation gets one for itself")

OWN_BINARY = (sys.version_info < (3, 11)
              or sysconfig.get_config_var("Py_GIL_DISABLED") and sys.version_info < (3, 15))


def told(config_settings):
    """What the caller set, with what mesonpy must know of this interpreter."""
    settings = dict(config_settings or {})
    if OWN_BINARY:
        given = settings.get("setup-args", [])
        settings["setup-args"] = [*([given] if isinstance(given, str) else given),
                                  "-Dpython.allow_limited_api=false"]
    return settings


def get_requires_for_build_sdist(config_settings=None):
    return mesonpy.get_requires_for_build_sdist(told(config_settings))


def get_requires_for_build_wheel(config_settings=None):
    return mesonpy.get_requires_for_build_wheel(told(config_settings))


def get_requires_for_build_editable(config_settings=None):
    return mesonpy.get_requires_for_build_editable(told(config_settings))


def build_sdist(sdist_directory, config_settings=None):
    return mesonpy.build_sdist(sdist_directory, told(config_settings))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return mesonpy.build_wheel(wheel_directory, told(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return mesonpy.build_editable(wheel_directory, told(config_settings), metadata_directory)
