"""Turns a trace of a program's promises into a page, a picture, a summary or JSON."""
