import { CountersignError } from '../../core/CountersignError.js'

/** The optional peer `ws` is not installed. */
export class WebSocketPackageNotFoundError extends CountersignError {
  override readonly name = 'WebSocketPackageNotFoundError'
  override readonly retryable = false

  constructor() {
    super(
      'An emulated network needs the npm package ws: run npm install --save-dev ws.',
    )
  }
}
