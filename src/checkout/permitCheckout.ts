import type { Hex } from 'viem'
import type { SpentLogFilter } from '../chain/logs/findAuthorizationLogs.js'
import type { Call } from '../chain/state/types.js'
import { invalidSignature } from '../core/errors.js'
import { parseBytes32 } from '../core/fields.js'
import {
  type CaptureProof,
  matches,
  type ProofLog,
  type ProofReceipt,
  proofOf,
  same,
} from '../core/receiptProof.js'
import { tokenSignature } from '../core/signature.js'
import { topics } from '../core/tokenAbi.js'
import { bytesWords, word } from '../core/words.js'
import type { PaymentKind, StoredFields } from '../payments/kind.js'
import type { EncodedCall } from '../payments/message/encodeCall.js'
import { permitCheckoutAddress } from './checkoutContracts.js'
import { encodePermit } from './encodePermit.js'
import {
  hashPermit,
  parsePermitTerms,
  permitMessage,
} from './parsePermitPayment.js'
import { type PageKind, permitSigning } from './signingKinds.js'
import type { PermitPayment, SignedPermitPayment } from './types.js'

/**
 * The kind of permit payments: pass it as `kind` to `signPayment`,
 * `verifyPayment`, `capturePayment`, `waitForOutcome` and similar functions.
 *
 * Canceling a permit leaves no event: then `getPaymentOutcome` returns
 * `unknown`, and `getPermitState` returns `canceled`.
 */
export const permitCheckout: PaymentKind = /* @__PURE__ */ Object.assign(
  {
    name: 'permitCheckout',
    hash: hashPermit,
    encodeCapture: encodePermitCapture,
    spentCall: ({ domain, message }: PermitPayment) =>
      contractCall(selectors.isSpent, { domain, message }),
    spentLogs: capturedLogs,
    prove: provePermit,
    end: (receipt: ProofReceipt, payment: PermitPayment) =>
      findCaptured(receipt, payment) ? 'consumed' : undefined,
    permit: {
      approvalCall,
      capturedCall: ({ domain, message }: PermitPayment) =>
        contractCall(selectors.captured, { domain, message }),
    },
    drawTerms: ({ operator, permitNonce = 0n }) => ({
      operator,
      nonce: `0x${word(permitNonce)}`,
    }),
    build: buildStored,
  } satisfies Omit<PaymentKind, keyof PageKind>,
  permitSigning,
)

function buildStored(fields: StoredFields): PermitPayment {
  const { domain, payer, recipient, value, terms } = fields
  const { validAfter, validBefore } = fields
  const { nonce, ...accounts } = { ...terms }
  const checkout = parsePermitTerms({ ...accounts, recipient })
  return {
    primaryType: 'Permit',
    domain,
    message: {
      from: payer,
      to: permitCheckoutAddress(checkout),
      value,
      validAfter,
      validBefore,
      nonce: parseBytes32(nonce, 'payment.checkout.nonce'),
    },
    checkout,
  }
}

/** Function selectors of the permit checkout contract. */
const selectors = {
  capture: '08dd5452',
  isSpent: '597d7dbe',
  captured: 'a4ba4516',
} as const

/**
 * First topic of the event `Captured(address,address,uint256,address,uint256)`.
 */
const capturedTopic: Hex =
  '0xa6cc66f25b7176f5a04f2b41dab0406c0ebb205d93345a5d930574c87f0b802f'

/**
 * Number of ABI words before the signature: the permit, the amount and the
 * offset of the signature.
 */
const headWords = 7

function encodePermitCapture(
  payment: SignedPermitPayment,
  amount: bigint,
): EncodedCall<PermitPayment> {
  const { signature: _, ...signed } = payment
  const signature = permitSignature(payment)
  const { owner, value, nonce, deadline } = permitMessage(payment)
  const permit =
    word(payment.domain.verifyingContract) +
    word(owner) +
    word(value) +
    word(nonce) +
    word(deadline)
  const head = permit + word(amount) + word(headWords * 32)
  return {
    to: payment.message.to,
    data: `0x${selectors.capture}${head}${bytesWords(signature)}`,
    signed,
    signature,
  }
}

function permitSignature({ signature: given }: SignedPermitPayment): Hex {
  const signature = tokenSignature(given)
  if (!signature)
    throw invalidSignature('signature', given, 'a wallet signature')
  return signature
}

/** Builds the call of `permit` that the checkout contract makes. */
function approvalCall(payment: SignedPermitPayment): Call {
  const data = encodePermit(permitMessage(payment), permitSignature(payment))
  const target = payment.domain.verifyingContract
  return { target, data: data.slice(2), gas: 200_000 }
}

/**
 * Builds a call that asks the checkout contract about the payment's permit
 * nonce.
 */
export function contractCall(
  selector: string,
  { domain, message }: Pick<PermitPayment, 'domain' | 'message'>,
): Call {
  const words =
    word(domain.verifyingContract) + word(message.from) + word(message.nonce)
  return { target: message.to, data: selector + words, gas: 200_000 }
}

/** Selector of the function that returns whether the permit was captured. */
export const capturedSelector: string = selectors.captured

function capturedLogs({ domain, message }: PermitPayment): SpentLogFilter {
  const token: Hex = `0x${word(domain.verifyingContract)}`
  const payer: Hex = `0x${word(message.from)}`
  return {
    address: message.to,
    topics: [capturedTopic, payer, token, message.nonce],
  }
}

/**
 * Finds the event `Captured` that the checkout contract logged for the permit.
 */
function findCaptured(
  { status, logs }: ProofReceipt,
  payment: PermitPayment,
): { index: number; log: ProofLog } | undefined {
  const { address, topics: expected } = capturedLogs(payment)
  const index = logs.findIndex(
    (log) =>
      same(log.address, address) &&
      matches(log, ...expected.map((topic) => String(topic))),
  )
  const log = logs[index]
  return status === 'success' && log ? { index, log } : undefined
}

/**
 * Finds the proof of a capture in a receipt: the contract's event `Captured`
 * with recipient and amount, and before it the token's exact `Transfer`.
 */
function provePermit(
  receipt: ProofReceipt,
  payment: PermitPayment,
): Omit<CaptureProof, 'finality'> | undefined {
  const captured = findCaptured(receipt, payment)
  const data = captured?.log.data
  if (!captured || data?.length !== 130) return undefined
  const { domain, message, checkout } = payment
  const recipient: Hex = `0x${word(checkout.recipient)}`
  const amount: Hex = `0x${data.slice(66)}`
  if (!same(data.slice(0, 66), recipient)) return undefined
  const isCaptured = ({ address, topics: [topic] }: ProofLog) =>
    same(address, message.to) && same(topic, capturedTopic)
  const earlier = receipt.logs.slice(0, captured.index)
  const start = earlier.map(isCaptured).lastIndexOf(true) + 1
  const paid = earlier
    .slice(start)
    .find(
      (log) =>
        same(log.address, domain.verifyingContract) &&
        matches(log, topics.transfer, `0x${word(message.from)}`, recipient) &&
        same(log.data, amount),
    )
  return paid && { ...proofOf(receipt, paid), amount: BigInt(amount) }
}
