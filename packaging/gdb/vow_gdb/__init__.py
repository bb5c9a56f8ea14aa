"""What gdb shows of libvow, in parts: this one puts them together."""


def register():
    from . import graph, pending, printers, promise

    for part in (printers, promise, pending, graph):
        part.register()
