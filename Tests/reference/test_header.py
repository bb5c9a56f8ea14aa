"""The header's reader: what it takes from C text, and that it takes all of include/vow.h."""

import re
import unittest

import support

from header import borrowed_words
from header.pieces import HeaderError


class Reading(unittest.TestCase):
    def test_a_comment_goes_with_the_declaration_below_it(self):
        item = support.header("/* Says\n * what. */\nVOW_API int vow_one(void);").named("vow_one")
        self.assertEqual((item.comment, item.result, item.parameters), ("Says\nwhat.", "int", []))

    def test_neighbours_without_an_empty_line_share_a_comment(self):
        read = support.header(
            "/* Both. */\nVOW_API int vow_one(void);\nVOW_API int vow_two(void);\n\n"
            "int vow_three(void);"
        )
        self.assertEqual([each.comment for each in read.items], ["Both.", "Both.", None])

    def test_a_comment_behind_a_constant_is_its_own(self):
        read = support.header("/* Kinds. */\n#define VOW_A 1 /* a */\n#define VOW_B 2\n")
        self.assertEqual(
            [(each.comment, each.own_comment) for each in read.items],
            [("a", True), ("Kinds.", False)],
        )

    def test_nullability_is_read_and_left_out_of_the_text(self):
        item = support.header(
            "int vow_f(const char *VOW_NULLABLE a, vow_x *VOW_NULLABLE *VOW_NONNULL b);"
        ).items[0]
        self.assertEqual(
            [(each.name, each.text, each.nullable) for each in item.parameters],
            [("a", "const char *a", True), ("b", "vow_x **b", False)],
        )

    def test_a_function_as_parameter(self):
        item = support.header(
            "int vow_f(VOW_SENDABLE void (*VOW_NULLABLE fn)(int a, void *b), void *c);"
        ).items[0]
        self.assertEqual(
            [(each.name, each.text, each.nullable) for each in item.parameters],
            [("fn", "void (*fn)(int a, void *b)", True), ("c", "void *c", False)],
        )

    def test_members_with_comments_before_and_behind_and_inside(self):
        item = support.header(
            "typedef struct vow_s {\n    int a; /* behind */\n    /* before,\n     * twice */\n"
            "    int b;\n    union {\n        int c;\n    } as;\n} vow_s;"
        ).items[0]
        self.assertEqual(
            [(each.name, each.comment) for each in item.members],
            [("a", "behind"), ("b", "before,\ntwice"), ("as", None)],
        )
        self.assertEqual([each.text for each in item.members[2].members], ["int c"])

    def test_the_body_of_an_inline_function_is_left_out(self):
        item = support.header(
            "/* F. */\nstatic inline int vow_f(int a) {\n    if (a) { return 1; }\n    return 2;\n}"
        ).items[0]
        self.assertEqual(item.text, "int vow_f(int a);")

    def test_what_is_for_cpp_compilers_is_left_out(self):
        self.assertEqual(support.header("#ifdef __cplusplus\n}\n#endif\n").items, [])

    def test_what_is_not_understood_is_an_error_with_its_line(self):
        with self.assertRaisesRegex(HeaderError, "^line 15: "):
            support.header("int vow_f(void)")
        with self.assertRaisesRegex(HeaderError, "^line 15: .*enum"):
            support.header("enum vow_e { VOW_A };")


class TheHeader(unittest.TestCase):
    """Found a second way: by plain patterns, and by the map of exports."""

    def setUp(self):
        self.header = support.vow()
        self.text = (support.ROOT / "include/vow.h").read_text(encoding="utf-8")
        self.body = self.text[self.text.index("1. Values\n *\n * A value") :]

    def names(self, *kinds):
        return {each.name for each in self.header.items if each.kind in kinds}

    def test_every_exported_function(self):
        exports = (support.ROOT / "packaging/libvow.map").read_text(encoding="utf-8")
        inline = re.findall(r"^static inline .*?(vow_\w+)\(", self.body, re.M)
        expected = set(re.findall(r"^ +(vow_\w+);", exports, re.M)) | set(inline)
        self.assertEqual(self.names("function"), expected)
        self.assertGreater(len(expected), 90)

    def test_every_constant(self):
        self.assertEqual(
            self.names("constant"), set(re.findall(r"^#define (VOW_\w+)", self.body, re.M))
        )

    def test_every_type(self):
        found = re.findall(
            r"^typedef [^;{]*?\b(vow_\w+);|^} (vow_\w+);|^typedef [^;]*?\([*^](vow_\w+)\)",
            self.body,
            re.M,
        )
        self.assertEqual(
            self.names("struct", "opaque", "alias", "callback"), {"".join(each) for each in found}
        )

    def test_everything_has_a_comment_or_is_explained_by_a_neighbour(self):
        for item in self.header.items:
            explained = item.comment
            if item.kind in ("constant", "alias"):
                explained = explained or borrowed_words.of_constant(self.header, item)
            self.assertTrue(explained, f"{item.name} has no comment")

    def test_every_member_has_a_comment_or_is_explained_elsewhere(self):
        def look(owner, members, path):
            for each in members:
                if each.members:
                    look(owner, each.members, (*path, each.name))
                else:
                    said = each.comment or borrowed_words.of_member(self.header, owner, each, path)
                    self.assertTrue(said, f"{owner.name}.{each.name} has no comment")

        for item in self.header.items:
            look(item, item.members, ())

    def test_chapters_are_those_of_the_list_at_the_beginning(self):
        rows = re.findall(
            r"^ \* +(\d+)\. (.+?)(?:  .*)?$", self.text[: self.text.index("Rules that hold")], re.M
        )
        self.assertEqual([(str(each.number), each.title) for each in self.header.chapters], rows)


if __name__ == "__main__":
    unittest.main()
