import { expect, it } from 'vitest'
import { isDeclined } from './isDeclined.js'

it('knows that the user declined from the words and codes of Trezor', () => {
  for (const message of ['Cancelled', 'Canceled', 'Action cancelled'])
    expect(isDeclined({ message }), message).toBe(true)
  for (const code of ['Failure_ActionCancelled', 'Method_Cancel'])
    expect(isDeclined({ code, message: 'Failure' }), code).toBe(true)
})

it('knows that the user declined the chains or the methods of a session', () => {
  for (const code of [5001, 5002])
    expect(isDeclined({ code, message: 'Disapproved' })).toBe(true)
})

it('does not take a request that others cancelled for the word of a user', () => {
  for (const message of ['request cancelled: timeout', 'context canceled'])
    expect(isDeclined({ code: -32603, message }), message).toBe(false)
})
