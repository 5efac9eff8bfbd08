import { CountersignError } from '../core/CountersignError.js'

/** The optional peer `zod` is too old. */
export class ZodVersionError extends CountersignError {
  override readonly name = 'ZodVersionError'

  constructor() {
    super(
      'createPaymentHandler needs zod 4.0.0 or later, and zod 3 or older is installed: run npm install zod@4.',
    )
  }
}
