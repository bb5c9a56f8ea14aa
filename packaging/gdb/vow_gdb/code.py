"""Addresses of code as people know them: function, file and line."""

import os

import gdb


def function_at(address):
    """The function that begins or lies at an address; None where gdb does not know."""
    try:
        block = gdb.block_for_pc(address)
    except (RuntimeError, gdb.error):
        block = None
    while block is not None and block.function is None:
        block = block.superblock
    if block is not None:
        return block.function.print_name
    return symbol_at(address)


def symbol_at(address):
    """The symbol at or before an address, of code or data, without its offset."""
    try:
        answer = gdb.execute("info symbol %#x" % address, to_string=True)
    except gdb.error:
        return None
    if answer.startswith("No symbol"):
        return None
    return answer.split(" in section ")[0].split(" + ")[0].strip()


def place_of_call(return_address):
    """ "connect at net.c:31" for the call that returns to an address."""
    call = return_address - 1
    function = function_at(call)
    line = gdb.find_pc_line(call)
    if line is not None and line.symtab is not None and line.line:
        where = "%s:%d" % (os.path.basename(line.symtab.filename), line.line)
        return "%s at %s" % (function, where) if function else where
    module = gdb.solib_name(call)
    where = "%#x%s" % (call, " of " + os.path.basename(module) if module else "")
    return "%s (%s)" % (function, where) if function else where
