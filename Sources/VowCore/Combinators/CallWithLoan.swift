// Calling a user's function inside work: in a checked build its input is lent, as a handler's is.

import CVow

@inline(__always)
func callWithLoan(_ input: vow_value, _ body: (vow_value) -> vow_value) -> vow_value {
    #if VOW_CHECKED
        let thread = currentThread()
        let loan = Loan(input, thread)
        let result = body(loan.value)
        loan.end(returning: result, thread)
        return result
    #else
        return body(input)
    #endif
}
