// Chapter 8 of vow.h: time.

import CVow

@_cdecl("vow_now") @implementation
public func vow_now() -> Int64 { clockNow(currentThread()) }
