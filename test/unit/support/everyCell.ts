import type { Input } from '../../../src/orders/model/apply.js'
import { orderStates } from '../../../src/orders/model/moves.js'
import type { StoredOrder } from '../../../src/orders/model/storedOrder.js'
import type {
  AttemptRecord,
  OrderRecord,
  OrderRole,
  TransactionRecord,
} from '../../../src/store/types.js'
import { attempt, destination, order, proofAt, word } from './settlingRows.js'

/** The fields that give a row its role. */
const roleFields: Readonly<Record<OrderRole, Partial<OrderRecord>>> = {
  sale: { role: 'sale' },
  refund: { role: 'refund', id: 'one\tback', parentId: 'one' },
  permission: { role: 'permission' },
  charge: { role: 'charge', parentId: 'monthly' },
  movement: { role: 'movement', id: 'claim+00c0ffee00c0ffee' },
}

export const roles = Object.keys(roleFields) as OrderRole[]

/** A cell of the machine: a role, a state and what is requested. */
export type Cell = { role: OrderRole; stored: StoredOrder; name: string }

const variants = [
  'nothing',
  'cancellation',
  'fulfilled',
  'unexpected',
  'noSignature',
] as const
const early = [undefined, 'reserved', 'working', 'answered'] as const
const asked = [undefined, 'capture', 'void', 'cancel'] as const
const proof = proofAt(word('a'), 9n)

/** Every cell of a role, with the flags that change what happens in it. */
export function* cellsOf(role: OrderRole): Generator<Cell> {
  for (const state of orderStates)
    for (const requested of asked)
      for (const needsReview of [false, true])
        for (const answer of early)
          for (const has of variants) {
            const isKnown = ['captured', 'canceled', 'consumed'].includes(state)
            const kind = state === 'canceled' ? 'cancel' : 'capture'
            const isProven = isKnown && state !== 'consumed'
            const row: OrderRecord = {
              ...order,
              ...roleFields[role],
              state,
              requested,
              needsReview,
              early: answer,
              lookDue: 10n,
              sendDue: requested && 0n,
              ...(isKnown
                ? {
                    settledHash: proof.transactionHash,
                    settledBlock: 9n,
                    finality: 'included' as const,
                  }
                : {}),
              ...(has === 'fulfilled' ? { fulfilled: 'one/goods' } : {}),
              ...(has === 'unexpected'
                ? { unexpected: state === 'captured' }
                : {}),
            }
            const one: AttemptRecord = {
              ...attempt,
              orderId: row.id,
              ...(has === 'noSignature'
                ? { signature: undefined, signatureHash: undefined }
                : {}),
              cancellation: has === 'cancellation' ? 'sealed' : undefined,
            }
            yield {
              role,
              stored: {
                order: row,
                attempt: one,
                attempts: [one],
                proofs: isProven ? [{ ...proof, kind, orderId: row.id }] : [],
              },
              name: `${role} ${state}, requested ${requested}`,
            }
          }
}

const sent = (
  kind: 'capture' | 'cancel',
  orderId: string,
): TransactionRecord => ({
  chainId: destination.chainId,
  account: destination.recipient,
  nonce: 0,
  bump: 0,
  version: 1,
  kind,
  movements: [{ orderId, attempt: 1 }],
  hash: word('a'),
  raw: 'sealed',
  gas: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  recordedAt: 0n,
  inFlight: false,
})

/** Every input that the machine knows, in the forms that differ. */
export function inputsFor({ stored }: Cell): readonly Input[] {
  const { order: row, attempt: one, proofs } = stored
  const { version: _, ...shown } = { ...proofAt(word('b'), 10n) }
  const other = { ...shown, orderId: row.id }
  const wider = { ...one, validBefore: 2000n }
  const next = { ...one, number: 2, signature: undefined }
  const accepted = {
    kind: 'accept',
    payer: destination.recipient,
    submitter: destination.recipient,
  } as const
  const gone = {
    transactions: [sent('capture', row.id), sent('cancel', row.id)],
  }
  return [
    { kind: 'capture', proof: other },
    { kind: 'cancel', proof: { ...other, kind: 'cancel' } },
    { kind: 'consumed', transactionHash: word('b'), blockNumber: 10n },
    { kind: 'withdrawn', blockNumber: 10n },
    { kind: 'expired', blockNumber: 10n, blockTime: 1000n, final: false },
    { kind: 'expired', blockNumber: 10n, blockTime: 1000n, final: true },
    ...[500n, 2000n].flatMap((blockTime): Input[] => [
      { kind: 'gone', proof: proofs[0], ...gone, blockTime },
      { kind: 'gone', proof: proofs[0], transactions: [], blockTime },
      { kind: 'gone', transactions: [], blockTime },
    ]),
    ...(['safe', 'finalized'] as const).map(
      (finality): Input => ({
        kind: 'final',
        proof: proofs[0],
        finality,
        fulfilAt: 'safe',
      }),
    ),
    { kind: 'preconfirmed', hash: word('b') },
    { kind: 'recorded', call: 'capture' },
    { kind: 'recorded', call: 'cancel' },
    { kind: 'refused', reason: 'replaced' },
    { kind: 'refused', reason: 'feeTooHigh', again: 20n },
    { kind: 'freed' },
    {
      kind: 'freed',
      approval: { transactionHash: word('b'), blockNumber: 10n },
    },
    { kind: 'nothingDue' },
    { kind: 'postponed', until: 30n },
    { kind: 'givingUp', reason: 'replaced' },
    { kind: 'blamed' },
    { kind: 'look', time: 20n, pause: 15n },
    { kind: 'look', time: 2000n, pause: 15n },
    ...[false, true].flatMap((isHeld) =>
      ([undefined, 'now', 'later'] as const).map(
        (capture): Input => ({ ...accepted, attempt: one, isHeld, capture }),
      ),
    ),
    { kind: 'requestCapture' },
    { kind: 'requestCapture', sendDue: 40n },
    { kind: 'void' },
    { kind: 'void', endsReview: false },
    ...[false, true].flatMap((isRelayed): Input[] => [
      { kind: 'acceptCancellation', isRelayed },
      { kind: 'acceptCancellation', isRelayed, cancellation: 'sealed' },
    ]),
    { kind: 'reauthorize', attempt: wider },
    { kind: 'reauthorize', attempt: next },
    { kind: 'revoke' },
    { kind: 'reserve' },
    { kind: 'reserve', as: 'working', name: 'daily' },
    { kind: 'endWork', isAnswered: true },
    { kind: 'endWork', isAnswered: false },
    { kind: 'offer', attempt: wider },
    { kind: 'giveUp', reason: 'signingDeclined' },
    { kind: 'loseNonce' },
    { kind: 'renewRefund', number: 2 },
  ]
}
