import type { Address } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'

/** The key of an authorizer cannot be used: it is unknown, or does not open. */
export class AuthorizerKeyError extends CountersignError {
  override readonly name = 'AuthorizerKeyError'
  override readonly retryable = false

  constructor({
    address,
    problem,
  }: {
    address: Address
    problem: 'is not in the store' | 'does not open with the keys of the sealer'
  }) {
    super(`The key of the authorizer ${address} ${problem}.`, {
      details: { address, problem },
    })
  }
}
