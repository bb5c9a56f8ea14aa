"""What cffi makes of the declarations when the wheel is built, so that no import has to read C."""

from typing import Any

ffi: Any
