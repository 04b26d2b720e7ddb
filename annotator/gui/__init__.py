"""The window."""

import builtins

_plain_import = builtins.__import__

# Import all of the widgets' library, so that no later import installs the hook again.
import PySide6.QtWidgets

# PySide6's import hook reads the source of every module imported after it, for naming styles not used here.
builtins.__import__ = _plain_import
