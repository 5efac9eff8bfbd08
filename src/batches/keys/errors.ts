import type { Address, Hash } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'
import type { CaptureKeyStatus } from './types.js'

type Problem = Exclude<CaptureKeyStatus, 'active'>

type Facts =
  | { reason: Problem; treasury: Address; key?: Address | undefined }
  | { reason: 'notRevoked'; treasury: Address; transactionHash: Hash }
  | {
      reason: 'timeout'
      treasury: Address
      transactionHash: Hash
      timeout: number
    }

/**
 * A capture key cannot capture, cannot be created, or was not revoked. `details`
 * names the treasury.
 */
export class CaptureKeyError extends CountersignError {
  override readonly name = 'CaptureKeyError'
  override readonly retryable: boolean
  readonly reason: Facts['reason']

  constructor(facts: Facts) {
    super(describe(facts), facts)
    const { reason } = facts
    this.reason = reason
    this.retryable = ['paused', 'timeout'].includes(reason)
  }
}

function describe(facts: Facts): string {
  const { reason, treasury } = facts
  switch (reason) {
    case 'expired':
      return `The permission of ${treasury}${facts.key ? ` for the key ${facts.key}` : ''} is over: create another capture key.`
    case 'revoked':
      return `${treasury} has revoked the permission${facts.key ? ` of the key ${facts.key}` : ''}.`
    case 'paused':
      return `The DelegationManager is paused: until its owner ends that, ${treasury} must capture itself.`
    case 'undelegated':
      return `${treasury} is not delegated to MetaMask's delegate: call delegateSubmitter with its wallet.`
    case 'unproven':
      return `A contract on which the permission of ${treasury} relies does not have the known code.`
    case 'notRevoked':
      return `Transaction ${facts.transactionHash} is mined, but the permission of ${treasury} has not ended: call revokeCaptureKey.`
    default:
      return `Transaction ${facts.transactionHash} was not mined within ${facts.timeout} ms; it still can be.`
  }
}
