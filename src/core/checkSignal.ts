import { InvalidFieldError } from './errors.js'

/** @throws {@link InvalidFieldError} when it is neither missing nor a signal. */
export function checkSignal(signal: unknown, field = 'signal'): void {
  if (
    signal !== undefined &&
    typeof Object(signal).addEventListener !== 'function'
  )
    throw new InvalidFieldError(field, signal, 'an AbortSignal')
}
