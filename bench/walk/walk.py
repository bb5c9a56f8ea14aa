"""note CORE.ll OUT.ll FUNCTIONS: puts a call at the head of each function of the core, and lists them: number, file, name.
count FUNCTIONS ENTERED [-v]: what calls.c has printed, in functions, files and changes of file."""

import os
import re
import subprocess
import sys

SYMBOL = re.compile(r'@("[^"]*"|[\w.$]+)')
# How mangled names of accessors, initialisers, default arguments and operators end.
LEFT_OUT = re.compile(r"(v[gsMrwluapF]?Z?|v[gsM]Z?|f[Cc]|vau|vpfi|_WZ|fA\d*_|lui[gsM]|ci[gsM])$|O2eeoi|SQ2ee|O2ne|V2eeoi")
WITHIN = re.compile(r"^((implicit )?closure #\d+ (\([^)]*\) )?in |\$defer #\d+ (<\w+>)?\(\) in |partial apply for |"
                    r"((generic|function signature) )?specialized )+")


def files_of(path):
    """The file of each function, by its mangled name; None: it is none of the core's."""
    files, scopes, functions = {}, {}, {}
    for line in open(path, errors="replace"):
        if line.startswith("define"):
            scope = re.search(r"!dbg !(\d+)", line)
            functions[SYMBOL.search(line)[1].strip('"')] = scope and scope[1]
        elif found := re.match(r'!(\d+) = (?:distinct )?!DIFile\(filename: "([^"]*)"', line):
            files[found[1]] = found[2]
        elif found := re.match(r"!(\d+) = (?:distinct )?!DISubprogram\(.*?file: !(\d+)", line):
            scopes[found[1]] = found[2]
    places = {name: re.search(r"VowCore/([\w/]+\.swift)", files.get(scopes.get(scope), "")) for name, scope in functions.items()}
    return {name: place and place[1] for name, place in places.items()}


def note(core, out, functions):
    places = files_of(core)
    texts = subprocess.run([os.environ["SWIFT_DEMANGLE"], "-simplified", "-compact"], input="\n".join(places),
                           capture_output=True, text=True, check=True).stdout.split("\n")
    texts = dict(zip(places, texts))
    inside, number = None, 0
    with open(out, "w") as written, open(functions, "w") as listed:
        for line in open(core, errors="replace"):
            written.write(line)
            if line.startswith("define"):
                inside = SYMBOL.search(line)[1].strip('"')
            elif line.startswith("entry:") and inside and places[inside]:
                number += 1
                written.write(f"  call void @vow_walk_note(i32 {number})\n")
                counts = not LEFT_OUT.search(inside) and places[inside] != "Platform/AtomicWord.swift"
                listed.write(f"{number}\t{places[inside] if counts else ''}\t{WITHIN.sub('', texts[inside])}\n")
                inside = None
        written.write("\ndeclare void @vow_walk_note(i32)\n")


def count(functions, entered, *options):
    table = dict((int(number), (file, text)) for number, file, text in (line.rstrip("\n").split("\t") for line in open(functions)))
    for name, *numbers in (part.split("\n") for part in open(entered).read().split("= ")[1:]):
        path = []
        for step in (table[int(number)] for number in numbers if number):
            if step[0] and path[-1:] != [step]:
                path.append(step)
        changes = sum(before[0] != after[0] for before, after in zip(path, path[1:]))
        print(f"{name}: {len(path)} entered, {len(set(path))} functions, {len({file for file, _ in path})} files, {changes} changes of file")
        for file, text in path if "-v" in options else ():
            print(f"    {file} {text[:100]}")


{"note": note, "count": count}[sys.argv[1]](*sys.argv[2:])
