"""The window around the pages: start, menus, navigation, status, closing."""
