import type { RejectionReason } from '../../core/types.js'
import type { AcceptRefusal } from '../../orders/index.js'

/**
 * Error codes of x402: those of its specification, and those of the exact
 * scheme on EVM chains in `@x402/evm` 2.27.
 */
export type X402ErrorCode =
  | 'invalid_payload'
  | 'unsupported_payload_type'
  | 'invalid_x402_version'
  | 'unsupported_scheme'
  | 'invalid_network'
  | 'invalid_payment_requirements'
  | 'extension_echo_mismatch'
  | 'invalid_exact_evm_scheme'
  | 'invalid_exact_evm_missing_eip712_domain'
  | 'invalid_exact_evm_network_mismatch'
  | 'invalid_exact_evm_recipient_mismatch'
  | 'invalid_exact_evm_signature'
  | 'invalid_exact_evm_payload_authorization_valid_after'
  | 'invalid_exact_evm_payload_authorization_valid_before'
  | 'invalid_exact_evm_payload_authorization_value_mismatch'
  | 'invalid_exact_evm_token_name_mismatch'
  | 'invalid_exact_evm_token_version_mismatch'
  | 'eip6492_factory_not_allowed'
  | 'invalid_exact_evm_insufficient_balance'
  | 'invalid_exact_evm_nonce_already_used'
  | 'invalid_exact_evm_eip3009_not_supported'
  | 'invalid_exact_evm_transaction_simulation_failed'
  | 'invalid_transaction_state'
  | 'settlement_pending'
  | 'unexpected_verify_error'
  | 'unexpected_settle_error'
  /** The caller has used up its gas budget. This code is not part of x402. */
  | 'gas_budget_exceeded'
  | ChannelErrorCode

/** Error codes of the scheme `batch-settlement` in `@x402/evm` 2.27. */
export type ChannelErrorCode =
  `invalid_batch_settlement_evm_${ChannelErrorName}`

type ChannelErrorName =
  | 'authorizer_address_mismatch'
  | 'channel_busy'
  | 'channel_id_mismatch'
  | 'channel_not_found'
  | 'claim_simulation_failed'
  | 'claim_transaction_failed'
  | 'cumulative_amount_mismatch'
  | 'cumulative_below_claimed'
  | 'cumulative_exceeds_balance'
  | 'deposit_below_min_deposit'
  | 'deposit_simulation_failed'
  | 'deposit_transaction_failed'
  | 'erc3009_authorization_required'
  | 'insufficient_balance'
  | 'missing_eip712_domain'
  | 'network_mismatch'
  | 'nothing_to_settle'
  | 'payload_authorization_valid_after'
  | 'payload_authorization_valid_before'
  | 'payload_type'
  | 'receive_authorization_signature'
  | 'receiver_authorizer_mismatch'
  | 'receiver_mismatch'
  | 'refund_amount_invalid'
  | 'refund_no_balance'
  | 'refund_payload'
  | 'refund_simulation_failed'
  | 'refund_transaction_failed'
  | 'scheme'
  | 'settle_simulation_failed'
  | 'settle_transaction_failed'
  | 'token_mismatch'
  | 'voucher_signature'
  | 'withdraw_delay_mismatch'

type Reason = RejectionReason | AcceptRefusal | 'removedRecipient'

const signature: X402ErrorCode = 'invalid_exact_evm_signature'
const simulation: X402ErrorCode =
  'invalid_exact_evm_transaction_simulation_failed'
const end: X402ErrorCode =
  'invalid_exact_evm_payload_authorization_valid_before'
const spent: X402ErrorCode = 'invalid_exact_evm_nonce_already_used'
const funds: X402ErrorCode = 'invalid_exact_evm_insufficient_balance'
/**
 * Code for faults on the merchant's side, when the payment itself may be good.
 */
const ours: X402ErrorCode = 'unexpected_verify_error'

const codes: Readonly<Record<Reason, X402ErrorCode>> = {
  malformedSignature: signature,
  wrongSigner: signature,
  wrongPayer: signature,
  walletNotDeployed: signature,
  walletRejects: signature,
  unsimulatedWallet: signature,
  contractPayer: signature,
  wrongChain: 'invalid_exact_evm_network_mismatch',
  wrongToken: 'invalid_payment_requirements',
  removedRecipient: 'invalid_payment_requirements',
  wrongPrimaryType: 'unsupported_payload_type',
  wrongNonce: 'invalid_payload',
  wrongRecipient: 'invalid_exact_evm_recipient_mismatch',
  selfPayment: 'invalid_exact_evm_recipient_mismatch',
  wrongOperator: 'invalid_exact_evm_recipient_mismatch',
  wrongSubmitter: simulation,
  checkoutNotDeployed: simulation,
  paused: simulation,
  payerBlocked: simulation,
  recipientBlocked: simulation,
  gasTooHigh: simulation,
  simulationFailed: simulation,
  notYetValid: 'invalid_exact_evm_payload_authorization_valid_after',
  expired: end,
  expiresTooSoon: end,
  windowTooLong: end,
  wrongWindow: end,
  consumed: spent,
  otherPayment: spent,
  permitOpen: spent,
  notOpen: spent,
  wrongDomain: 'invalid_exact_evm_token_name_mismatch',
  wrongAmount: 'invalid_exact_evm_payload_authorization_value_mismatch',
  insufficientFunds: funds,
  insufficientAllowance: funds,
  exposureTooHigh: funds,
  unsupportedToken: 'invalid_exact_evm_eip3009_not_supported',
  submitterFunds: ours,
  noWallet: ours,
  acceptInFlight: ours,
  tooManyTries: ours,
}

/** Returns the x402 error code for a reason of this library. */
export function errorCodeOf(reason: string): X402ErrorCode {
  return Object.hasOwn(codes, reason)
    ? codes[reason as Reason]
    : 'invalid_transaction_state'
}
