"""The window."""

import builtins

_plain_import = builtins.__import__

# The widgets' whole library comes along, so that nothing later brings the hook back.
import PySide6.QtWidgets

# PySide6 reads the source of whatever is imported after it, for naming styles that are not used here.
builtins.__import__ = _plain_import
