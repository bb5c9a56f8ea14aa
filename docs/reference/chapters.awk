# vow.h for Doxygen: the heading of a chapter begins a group, which the next one ends.
/^\/\* -+ [0-9]+\. / {
    if (heading) print "/** @} */"
    heading = $0
    sub(/^\/\* -+ /, "", heading)
    $0 = "/** @defgroup vow_chapter" int(heading) " " heading
    text = 1
}
text && sub(/ *\*\/$/, "\n * @{ */") { text = 0 }
{ print }
END { if (heading) print "/** @} */" }
