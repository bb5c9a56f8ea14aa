// A chain on the installed library, and a wait for it.
import CVow

let promise = vow_then(
    vow_promise_with(vow_int(21)), { input, _ in vow_int(2 * input.as.integer) }, nil)
var result = vow_none()
let state = vow_await(promise, Int64(VOW_FOREVER), &result)
vow_promise_release(promise)
precondition(state == Int32(VOW_FULFILLED))
print("\(result.as.integer), vow \(VOW_VERSION_STRING)")
