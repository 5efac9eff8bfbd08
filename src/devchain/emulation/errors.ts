import { CountersignError } from '../../core/CountersignError.js'

/** The optional peer `ws` is not installed, or too old. */
export class WebSocketPackageNotFoundError extends CountersignError {
  override readonly name = 'WebSocketPackageNotFoundError'
  override readonly retryable = false

  constructor(problem: string) {
    super(`An emulated network ${problem}.`, { problem })
  }
}
