"""What __getattr__ of the package finds, for type checkers."""
from vramscope._core import Column as Column
from vramscope._core import Error as Error
from vramscope._core import File as File
from vramscope._core import Recording as Recording
from vramscope._core import Result as Result
from vramscope._core import VramscopeNote as VramscopeNote
from vramscope._core import category_rules as category_rules
from vramscope._core import export_ready as export_ready
from vramscope._core import index as index
from vramscope._core import is_own as is_own
from vramscope._core import load as load
from vramscope._core import merge as merge
from vramscope._core import open as open
from vramscope._core import size as size
from vramscope._core import unread as unread
from vramscope._core import version as version
from vramscope._core import view as view

__all__ = [
    "Column",
    "Error",
    "File",
    "Recording",
    "Result",
    "VramscopeNote",
    "category_rules",
    "export_ready",
    "index",
    "is_own",
    "load",
    "merge",
    "open",
    "size",
    "unread",
    "version",
    "view",
]
__version__: str
