import type { SignedPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import type {
  CreateOrdersParameters,
  OrdersContext,
} from '../../../src/orders/context/types.js'
import { createContext } from '../../../src/orders/createContext.js'
import { draftedOrder } from '../../../src/orders/model/draftedRows.js'
import { memoryStore } from '../../../src/store/memoryStore.js'
import type {
  AttemptRecord,
  OrderRecord,
  TransactionRecord,
} from '../../../src/store/types.js'
import { randomHash } from './desk.js'
import { checkEvents } from './eventContract.js'

/** What parts of the orders are handed, over a chain's own merchant. */
export function contextOf(
  { clients, token }: DevChain,
  changes: Partial<CreateOrdersParameters> = {},
): OrdersContext {
  return createContext({
    store: checkEvents(memoryStore()),
    seal: 'none',
    tokens: [{ client: clients.public, token }],
    wallets: [clients.merchant],
    ...changes,
  })
}

type RowChanges = {
  order?: Partial<OrderRecord>
  attempt?: Partial<AttemptRecord>
  transactions?: readonly Partial<TransactionRecord>[]
}

/** Puts an order on record whose payment was accepted, and hands its id. */
export async function putOrder(
  { store, sealer, policy }: OrdersContext,
  payment: SignedPayment,
  changes: RowChanges = {},
): Promise<string> {
  const { primaryType, domain, message } = payment
  const { from: payer, to: recipient, value, validBefore, nonce } = message
  const { chainId, verifyingContract: token } = domain
  const id = changes.order?.id ?? randomHash().slice(2, 18)
  const signature = await sealer.seal(payment.signature, {
    kind: 'payment',
    orderId: id,
    attempt: 1,
    chainId,
    token,
    payer,
    nonce,
  })
  await store.write(async ({ orders, attempts, transactions }) => {
    await orders.insert([
      {
        ...draftedOrder,
        id,
        chainId,
        token,
        recipient,
        submitter: recipient,
        state: 'stored',
        value,
        decimals: 6,
        kind: 'eip3009',
        total: 'amount',
        primaryType,
        tokenName: domain.name,
        tokenVersion: domain.version,
        payer,
        buyerTokenHash: randomHash(),
        metadata: {},
        createdAt: message.validAfter + 60n,
        deadline: validBefore,
        lookDue: validBefore - policy.deadlineNear,
        ...changes.order,
      },
    ])
    const attempt = attemptOf(id, payment)
    await attempts.insert([{ ...attempt, signature, ...changes.attempt }])
    const sent = changes.transactions ?? []
    await transactions.insert(
      sent.map((row) => transactionOf(id, row, payment)),
    )
  })
  return id
}

/** Puts a second attempt of an order on record. */
export async function putAttempt(
  { store }: OrdersContext,
  id: string,
  payment: SignedPayment,
): Promise<void> {
  const attempt = { ...attemptOf(id, payment), number: 2 }
  await store.write(({ attempts }) => attempts.insert([attempt]))
}

function attemptOf(
  orderId: string,
  { domain, message }: SignedPayment,
): Omit<AttemptRecord, 'version'> {
  const { from: payer, value, validAfter, validBefore, nonce } = message
  const { chainId, verifyingContract: token } = domain
  return {
    chainId,
    token,
    orderId,
    number: 1,
    nonce,
    payer,
    value,
    validAfter,
    validBefore,
    signedAfter: validAfter,
    signedBefore: validBefore,
    signatureHash: randomHash(),
    spendableUntil: validBefore,
    terms: undefined,
    spendable: true,
    signature: undefined,
    cancellation: undefined,
  }
}

function transactionOf(
  orderId: string,
  changes: Partial<TransactionRecord>,
  { domain, message }: SignedPayment,
): Omit<TransactionRecord, 'version'> {
  return {
    chainId: domain.chainId,
    account: message.to,
    nonce: 0,
    bump: 0,
    kind: 'capture',
    movements: [{ orderId, attempt: 1 }],
    hash: undefined,
    raw: undefined,
    gas: 100_000n,
    maxFeePerGas: 10n ** 9n,
    maxPriorityFeePerGas: 1n,
    recordedAt: 0n,
    inFlight: true,
    ...changes,
  }
}
