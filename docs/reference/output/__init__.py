"""Writes what was read from the header: manual pages, and C text with comments for Doxygen."""
