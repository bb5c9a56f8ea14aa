"""Comments as text: blocks, sentences, names, what speaks of the result, and who owns what."""

import unittest

import support

from header.ownership import Ownership
from header.names import Names
from header.prose import blocks, sentences, split_returns


class Blocks(unittest.TestCase):
    def test_paragraphs(self):
        self.assertEqual(
            [each.text for each in blocks("One\ntwo.\n\nThree.")], ["One two.", "Three."]
        )

    def test_a_list_of_terms_between_text(self):
        found = blocks("Returns:\n  VOW_A   first\n          line\n  VOW_BC  second\nAnd more.")
        self.assertEqual([each.kind for each in found], ["text", "terms", "text"])
        self.assertEqual(found[1].rows, [("VOW_A", "first line"), ("VOW_BC", "second")])

    def test_indented_lines_that_are_no_terms_are_code(self):
        found = blocks("So:\n  one(two);\n    three\nEnd.")
        self.assertEqual(
            [(each.kind, each.text) for each in found],
            [("text", "So:"), ("code", "one(two);\n  three\n"), ("text", "End.")],
        )

    def test_sentences(self):
        self.assertEqual(
            sentences("One. Two (e.g. three). p = f(p, ...) four! Five"),
            ["One.", "Two (e.g. three).", "p = f(p, ...) four!", "Five"],
        )


class Returns(unittest.TestCase):
    def test_the_last_sentences_are_split_off(self):
        self.assertEqual(
            split_returns("Does it. Returns 0. NULL: VOW_EINVAL."),
            ("Does it.", "Returns 0. NULL: VOW_EINVAL."),
        )

    def test_a_sentence_that_others_follow_stays(self):
        self.assertEqual(split_returns("Does it. Returns 0. It may wait.")[1], "")

    def test_a_comment_that_says_nothing_else_stays(self):
        self.assertEqual(split_returns("Returns 0.")[1], "")


class Spans(unittest.TestCase):
    def setUp(self):
        self.names = Names(support.vow())
        self.header = support.vow()

    def kinds(self, text, name=None):
        item = self.header.named(name) if name else None
        return [
            (each.kind, each.text) for each in self.names.spans(text, item) if each.kind != "text"
        ]

    def test_functions_types_and_constants(self):
        self.assertEqual(
            self.kinds("vow_then or vow_none() of a vow_value, VOW_ERRORs, vow_reaction.token"),
            [
                ("function", "vow_then"),
                ("function", "vow_none()"),
                ("type", "vow_value"),
                ("constant", "VOW_ERROR"),
                ("member", "vow_reaction.token"),
            ],
        )

    def test_calls_and_code(self):
        self.assertEqual(
            self.kinds("fn(vow_none(), context) and vow_then(p, ...) and `as.pointer` and `x y`"),
            [
                ("code", "fn(vow_none(), context)"),
                ("function", "vow_then(p, ...)"),
                ("code", "as.pointer"),
                ("code", "x y"),
            ],
        )

    def test_a_setting_of_the_environment_is_code(self):
        self.assertEqual(self.kinds("VOW_TRACE=file"), [("code", "VOW_TRACE=file")])

    def test_a_parameter_shows_by_what_follows(self):
        self.assertEqual(
            self.kinds("once promise (consumed) is there, a promise; fn's", "vow_then"),
            [("parameter", "promise")],
        )

    def test_what_is_called_nothing_is_told(self):
        self.assertEqual(
            self.kinds("vow_nothing, VOW_EWRONG, chapter 99, vow_reaction.nothing, VOW_E..."),
            [
                ("unknown", "vow_nothing"),
                ("unknown", "VOW_EWRONG"),
                ("unknown", "chapter 99"),
                ("unknown", "vow_reaction.nothing"),
            ],
        )

    def test_every_name_in_the_header_is_called_something(self):
        for item in self.header.items:
            for text in [item.comment or "", *(each.comment or "" for each in item.members)]:
                self.assertNotIn("unknown", [kind for kind, _ in self.kinds(text)], item.name)


class WhoOwnsWhat(unittest.TestCase):
    """Read by people once, and written down: one function for each way in which comments say it."""

    def test_the_words(self):
        of = Ownership(support.vow()).of
        for name, expected in {
            "vow_then": "promise consumed; context may be NULL; result owned",
            "vow_reject": "resolver borrowed; error consumed",
            "vow_string": "utf8 borrowed, may be NULL; result owned",
            "vow_error": "domain borrowed; message borrowed, may be NULL; result owned",
            "vow_error_wrap": "domain borrowed; message borrowed, may be NULL; "
            "cause_or_payload consumed; result owned",
            "vow_object": "pointer consumed, may be NULL; cls borrowed; result owned",
            "vow_list_at": "value borrowed",
            "vow_promise_create": "*resolver owned; result owned",
            "vow_promise_retain": "promise borrowed, may be NULL; result owned",
            "vow_promise_release": "promise consumed, may be NULL",
            "vow_await": "promise borrowed; *out owned, may be NULL",
            "vow_executor_pool": "result borrowed",
            "vow_executor_serial": "label borrowed, may be NULL; result owned",
            "vow_cancel_source_token": "source borrowed, may be NULL; result borrowed",
            "vow_cancel_source_cancel_with": "source borrowed; reason consumed",
            "vow_all": "promises borrowed, its promises consumed, may be NULL; result owned",
            "vow_reduce": "promises borrowed, its promises consumed, may be NULL; initial consumed; "
            "context may be NULL; result owned",
            "vow_scope_close": "scope consumed; result owned",
            "vow_catch_if": "promise consumed; domain borrowed, may be NULL; context may be NULL; "
            "result owned",
        }.items():
            found = "; ".join(f"{each.who} {', '.join(each.words)}" for each in of[name])
            self.assertEqual(found, expected, name)

    def test_every_promise_that_is_returned_has_an_owner(self):
        header = support.vow()
        of = Ownership(header).of
        for item in header.items:
            if (
                item.kind == "function"
                and item.result == "vow_promise *"
                and not item.name.startswith("vow_block")
            ):
                self.assertIn("result", [each.who for each in of[item.name]], item.name)


if __name__ == "__main__":
    unittest.main()
