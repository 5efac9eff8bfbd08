import type { Address, Hash, Hex } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'

type Facts =
  | { reason: 'cannotSign'; account: Address }
  | { reason: 'isContract'; account: Address }
  | { reason: 'otherDelegate'; account: Address; delegate: Address }
  | { reason: 'unprovenCode'; delegate: Address; codeHash: Hex | undefined }
  | { reason: 'notApplied'; account: Address; transactionHash: Hash }
  | { reason: 'timeout'; transactionHash: Hash; timeout: number }

/** An account's delegation (EIP-7702) was not changed, or may not be yet. */
export class DelegationError extends CountersignError {
  override readonly name = 'DelegationError'
  override readonly retryable: boolean
  readonly reason: Facts['reason']

  constructor(facts: Facts) {
    super(describe(facts), facts)
    const { reason } = facts
    this.reason = reason
    this.retryable = reason === 'notApplied' || reason === 'timeout'
  }
}

function describe(facts: Facts): string {
  switch (facts.reason) {
    case 'cannotSign':
      return `The wallet of ${facts.account} cannot sign EIP-7702 authorizations here: pass a local account.`
    case 'isContract':
      return `${facts.account} is a contract, which cannot be delegated.`
    case 'otherDelegate':
      return `${facts.account} is delegated to ${facts.delegate}: call undelegateSubmitter first if that may end.`
    case 'unprovenCode':
      return facts.codeHash
        ? `The code at ${facts.delegate} has the hash ${facts.codeHash}, which is not that of the delegate.`
        : `There is no code at ${facts.delegate} on this chain.`
    case 'notApplied':
      return `Transaction ${facts.transactionHash} is mined, but did not change the delegation of ${facts.account}: its account nonce moved on meanwhile.`
    default:
      return `Transaction ${facts.transactionHash} was not mined within ${facts.timeout} ms; it still can be.`
  }
}
