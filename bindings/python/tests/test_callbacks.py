"""Exceptions in callbacks that have nobody to tell: said by `sys.unraisablehook`, as all others.

In processes of their own: pytest has a hook there that takes anything.
"""

from __future__ import annotations

import pytest

from programs import run_dev

CALLBACKS = {
    "on_cancel": """
        promise, resolver = vow.pending()
        resolver.on_cancel(broken)
        promise.cancel()
    """,
    "token": """
        source = vow.CancelSource()
        source.token.on_cancel(broken)
        source.cancel()
    """,
    "on_progress": """
        with vow.Loop() as loop:
            promise, resolver = vow.pending()
            promise.on_progress(broken)
            resolver.set_progress(0.5)
            loop.run_once(10)
    """,
    "on_unhandled": """
        vow.on_unhandled(broken)
        vow.rejected(KeyError())
    """,
    "may_retry": """
        def fail(attempt):
            raise KeyError("first")
        print(repr(vow.retry(fail, may_retry=broken).catch(lambda e: e).wait()))
    """,
    "submit": """
        print(vow.Executor(broken).run(lambda: "all the same").wait())
    """,
}
PRINTED = {"may_retry": "KeyError('first')\n", "submit": "all the same\n"}


@pytest.mark.parametrize("name", CALLBACKS)
def test_an_exception_in_a_callback_is_said(name: str) -> None:
    out, error = run_dev(
        """
        import vow
        def broken(*arguments):
            raise ValueError("in the callback")
        """
        + CALLBACKS[name]
    )
    assert out == PRINTED.get(name, "")
    assert error.startswith("Exception ignored in a callback of vow: <function broken at 0x"), error
    assert error.endswith("ValueError: in the callback\n")
    assert "in broken\n" in error
    assert "TypeError" not in error


def test_a_hook_gets_what_hooks_get_and_loses_nothing_by_raising() -> None:
    out, error = run_dev(
        """
        import sys, vow
        def hook(unraisable):
            print(type(unraisable).__name__, unraisable.exc_type.__name__, unraisable.object is broken)
            raise KeyError("in the hook")
        sys.unraisablehook = hook
        def broken():
            raise ValueError("in the callback")
        promise, resolver = vow.pending()
        resolver.on_cancel(broken)
        promise.cancel()
        """
    )
    assert out == "UnraisableHookArgs ValueError True\n"
    assert "ValueError: in the callback" in error
    assert "KeyError: 'in the hook'" in error
