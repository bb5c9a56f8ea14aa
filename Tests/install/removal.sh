# make uninstall: sourced by run, last.

echo kept >"$prefix/lib/of-somebody-else"
vow_make install PREFIX="$prefix" && vow_make uninstall PREFIX="$prefix"
result $? "make uninstall, after a second installation"
[ "$(cd "$prefix" && find . | LC_ALL=C sort | xargs)" = ". ./lib ./lib/of-somebody-else" ]
result $? "uninstall leaves what is not its own"

vow_make uninstall PREFIX=/usr DESTDIR="$stage" && [ ! -e "$stage/usr" ]
result $? "uninstall removes the directories that install made"

mkdir -p "$work/old/lib/cmake" "$work/old/include"
vow_make install PREFIX="$work/old" && vow_make uninstall PREFIX="$work/old" &&
    [ "$(cd "$work/old" && find . | LC_ALL=C sort | xargs)" = ". ./include ./lib ./lib/cmake" ]
result $? "uninstall leaves empty directories that were there before"

! vow_make uninstall PREFIX="$work/old" 2>/dev/null
result $? "uninstall says when there is nothing to remove"
