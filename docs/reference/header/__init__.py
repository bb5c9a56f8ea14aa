"""Reads include/vow.h: its chapters, what each declares, and what the comments say of it."""

from .chapters import read_header

__all__ = ["read_header"]
