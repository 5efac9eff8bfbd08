import { CountersignError } from '../base/CountersignError.js'

/** This runtime has no Web Crypto to draw a nonce from. */
export class NoRandomnessError extends CountersignError {
  override readonly name = 'NoRandomnessError'

  constructor() {
    super('There is no Web Crypto to draw a nonce from.')
  }
}
