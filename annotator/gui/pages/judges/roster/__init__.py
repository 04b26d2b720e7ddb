"""The list of judges and the settings of the chosen one."""
