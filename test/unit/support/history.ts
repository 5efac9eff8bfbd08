import type { Address, Hash } from 'viem'
import {
  type Applied,
  apply,
  type Input,
} from '../../../src/orders/model/apply.js'
import { type Changes, settleEarly } from '../../../src/orders/model/changes.js'
import {
  type ChangeSet,
  collectChanges,
} from '../../../src/orders/model/collectChanges.js'
import {
  draftedOrder,
  unsignedAttempt,
} from '../../../src/orders/model/draftedRows.js'
import { endsOf, lastSecondOf } from '../../../src/orders/model/endsOf.js'
import { eraseSecrets } from '../../../src/orders/model/eraseSecrets.js'
import { isDead } from '../../../src/orders/model/refusals.js'
import type { Evidence } from '../../../src/orders/model/settleOrder.js'
import type { StoredOrder } from '../../../src/orders/model/storedOrder.js'
import { judgeSending } from '../../../src/orders/sending/planSending.js'
import { eip3009 } from '../../../src/payments/kind.js'
import type {
  AttemptRecord,
  OrderRecord,
  ProofRecord,
  TransactionRecord,
} from '../../../src/store/types.js'

const account = (digit: string): Address => `0x${digit.repeat(40)}`
const token = account('1')
const recipient = account('2')
const payer = account('3')
const stranger = account('4')

export type Rules = {
  capture: 'manual' | 'onAccept' | 'beforeDeadline'
  relayCancellations: 'always' | 'onApproval'
  fulfilAt: 'included' | 'safe' | 'finalized'
}

/** What stands on the chain for the payment nonce of one attempt. */
type Use = {
  kind: 'capture' | 'cancel' | 'consumed'
  hash: Hash
  block: bigint
  by: Address
  isFinal: boolean
}

const steps = [
  'accept',
  'acceptHeld',
  'capture',
  'captureEarly',
  'void',
  'cancel',
  'approve',
  'renew',
  'send',
  'preconfirm',
  'mine',
  'drop',
  'fail',
  'blame',
  'strangerSubmits',
  'buyerCancels',
  'buyerSpends',
  'settle',
  'reorg',
  'reorgFirst',
  'move',
  'unsettle',
  'safe',
  'final',
  'later',
  'over',
  'back',
] as const

/** What a merchant, a buyer, a submitter, the chain or the clock does. */
export type Step = (typeof steps)[number]

export { steps }

/** Number of the attempt that a transaction carries; 0 for none. */
const numberOf = (row: TransactionRecord | undefined): number =>
  row?.movements[0]?.attempt ?? 0

/**
 * One order and everything that can happen to it, without a node and a
 * database: what the chain has, and what the record says of it.
 */
export class History {
  stored: StoredOrder
  sent: TransactionRecord[] = []
  readonly chain = new Map<number, Use>()
  readonly events: Changes['events'] = []
  readonly taken = new Set<Step>()
  now = 1_000n
  /** True once the merchant gave the order up, until it is wanted again. */
  isGivenUp = false
  private count = 0

  constructor(readonly rules: Rules) {
    const attempt = this.draw(1)
    const order: OrderRecord = {
      ...draftedOrder,
      chainId: 1,
      token,
      recipient,
      submitter: recipient,
      id: 'one',
      version: 1,
      position: 1n,
      kind: eip3009.name,
      total: 'amount',
      value: 5n,
      decimals: 6,
      payer: undefined,
      primaryType: 'TransferWithAuthorization',
      metadata: {},
      tokenName: 'Coin',
      tokenVersion: '2',
      buyerTokenHash: attempt.nonce,
      createdAt: this.now,
      deadline: attempt.validBefore,
      lookDue: attempt.validBefore,
    }
    this.stored = { order, attempt, attempts: [attempt], proofs: [] }
  }

  private word(): Hash {
    this.count += 1
    return `0x${String(this.count).padStart(64, '0')}`
  }

  private draw(number: number): AttemptRecord {
    return {
      ...unsignedAttempt,
      chainId: 1,
      token,
      orderId: 'one',
      number,
      version: 1,
      nonce: this.word(),
      payer: undefined,
      value: 5n,
      validAfter: this.now - 60n,
      validBefore: this.now + 900n,
      terms: undefined,
    }
  }

  private get policy() {
    return { ...this.rules, deadlineNear: 100n, safetyMargin: 10n }
  }

  private decide(input: Input, stored = this.stored): Applied {
    return apply(stored, input, { at: this.now, policy: this.policy })
  }

  /** Gives a command. Returns false where it is refused or changes nothing. */
  private command(input: Input): boolean {
    const { refusal, ...changes } = this.decide(input)
    this.add(changes)
    return changes.orders.length > 0
  }

  /** Takes the changes as one write would. */
  private write(change: (collected: ChangeSet) => void): void {
    const { order } = this.stored
    const collected = collectChanges(new Map([[order.id, this.stored]]))
    change(collected)
    const changes = settleEarly(collected.close(), this.now)
    const after = collected.find(order.id)
    const [row] = changes.orders
    if (after) this.stored = { ...after, order: row ?? after.order }
    this.events.push(...changes.events)
    for (const row of changes.newTransactions)
      this.sent.push({ ...row, version: 1 })
    for (const row of changes.transactions)
      this.sent = this.sent.map((one) =>
        one.nonce === row.nonce && one.bump === row.bump ? row : one,
      )
  }

  private add(changes: Partial<Changes>): void {
    this.write((collected) => collected.add(changes))
  }

  private get inFlight(): TransactionRecord | undefined {
    return this.sent.find((row) => row.inFlight)
  }

  /** Takes a step. Returns false if it cannot happen now. */
  take(step: Step): boolean {
    const isTaken = this[step]()
    if (isTaken) this.taken.add(step)
    return isTaken
  }

  private keep(isHeld: boolean): boolean {
    const { attempt: offered } = this.stored
    if (this.now >= offered.validBefore) return false
    const { spendableUntil = 0n, validAfter, validBefore, number } = offered
    const attempt: AttemptRecord = {
      ...offered,
      payer,
      signedAfter: validAfter,
      signedBefore: validBefore,
      signatureHash: this.word(),
      signature: 'sealed',
      spendable: true,
      spendableUntil:
        spendableUntil > validBefore ? spendableUntil : validBefore,
    }
    // A used nonce is refused by the rehearsal.
    if (this.chain.has(number)) return false
    const facts = { payer, submitter: recipient, isHeld }
    return this.command({ kind: 'accept', attempt, ...facts })
  }

  accept(): boolean {
    return this.keep(false)
  }

  acceptHeld(): boolean {
    return this.keep(true)
  }

  capture(): boolean {
    const isAsked = this.command({ kind: 'requestCapture' })
    if (isAsked) this.isGivenUp = false
    return isAsked
  }

  captureEarly(): boolean {
    this.capture()
    return this.command({ kind: 'reserve' })
  }

  void(): boolean {
    const isVoided = this.command({ kind: 'void' })
    if (isVoided) this.isGivenUp = true
    return isVoided
  }

  cancel(): boolean {
    const isRelayed = this.rules.relayCancellations === 'always'
    const cancellation = 'sealed'
    return this.command({ kind: 'acceptCancellation', isRelayed, cancellation })
  }

  approve(): boolean {
    if (!this.stored.attempt.cancellation) return false
    return this.command({ kind: 'acceptCancellation', isRelayed: true })
  }

  renew(): boolean {
    const { order, attempt: last } = this.stored
    const attempt = isDead(this.stored)
      ? { ...this.draw(order.attempt + 1), payer: order.payer }
      : {
          ...last,
          validAfter: this.now - 60n,
          validBefore: this.now + 901n,
          spendableUntil: lastSecondOf(last),
        }
    const changes = this.decide({ kind: 'reauthorize', attempt })
    if (changes.refusal) return false
    this.isGivenUp = false
    if (attempt.number > order.attempt) {
      const attempts = [...this.stored.attempts, attempt]
      this.stored = { ...this.stored, attempts }
    }
    this.add(changes)
    return true
  }

  send(): boolean {
    const { order, attempt } = this.stored
    const { sendDue } = order
    if (sendDue === undefined || sendDue > this.now || this.inFlight)
      return false
    const unsendable = judgeSending(
      this.stored,
      { timestamp: this.now },
      this.policy,
    )
    if (unsendable) {
      const { reason } = unsendable
      this.command(
        reason ? { kind: 'refused', reason } : { kind: 'nothingDue' },
      )
      return true
    }
    const call = order.requested === 'cancel' ? 'cancel' : 'capture'
    const row = {
      chainId: 1,
      account: recipient,
      nonce: this.sent.length,
      bump: 0,
      kind: call,
      movements: [{ orderId: order.id, attempt: attempt.number }],
      hash: this.word(),
      raw: 'sealed',
      gas: 1n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      recordedAt: this.now,
      inFlight: true,
    } as const
    const recorded = this.decide({ kind: 'recorded', call })
    this.add({ ...recorded, newTransactions: [row] })
    return true
  }

  preconfirm(): boolean {
    const { hash, kind } = this.inFlight ?? {}
    if (kind !== 'capture' || !hash) return false
    return this.command({ kind: 'preconfirmed', hash })
  }

  private use(
    number: number,
    kind: Use['kind'],
    by: Address,
    hash: Hash,
  ): void {
    this.count += 1
    const block = BigInt(this.count)
    this.chain.set(number, { kind, hash, block, by, isFinal: false })
  }

  private ofNumber(number: number): AttemptRecord | undefined {
    return this.stored.attempts.find((one) => one.number === number)
  }

  mine(): boolean {
    const { kind, hash } = this.inFlight ?? {}
    const number = numberOf(this.inFlight)
    const attempt = this.ofNumber(number)
    if (!attempt || !hash || this.chain.has(number)) return false
    if (kind !== 'capture' && kind !== 'cancel') return false
    if (kind === 'capture' && this.now >= endsOf(attempt).capture) return false
    this.use(number, kind, recipient, hash)
    return true
  }

  /** Ends the transaction in flight. Tells whether it could not pay. */
  private end(reason: 'replaced' | undefined): boolean {
    const row = this.inFlight
    const number = numberOf(row)
    if (!row || this.chain.has(number)) return false
    this.write((collected) => {
      collected.add({ transactions: [{ ...row, inFlight: false }] })
      const stored = collected.find('one', number)
      if (!stored) return
      const fate: Input = reason
        ? { kind: 'refused', reason }
        : { kind: 'freed' }
      collected.add(this.decide(this.evidenceOf(number) ?? fate, stored))
    })
    return true
  }

  drop(): boolean {
    return this.end(undefined)
  }

  fail(): boolean {
    return this.end('replaced')
  }

  blame(): boolean {
    return this.command({ kind: 'blamed' })
  }

  /** Somebody uses the nonce of the newest or the first attempt. */
  private spend(kind: Use['kind']): boolean {
    const open = this.stored.attempts.find(
      ({ number, validBefore, signedBefore = validBefore }) =>
        !this.chain.has(number) && this.now < signedBefore,
    )
    if (!open) return false
    this.use(open.number, kind, stranger, this.word())
    return true
  }

  strangerSubmits(): boolean {
    return this.spend('capture')
  }

  buyerCancels(): boolean {
    return this.spend('cancel')
  }

  buyerSpends(): boolean {
    return this.spend('consumed')
  }

  private proofOf(number: number, use: Use): Omit<ProofRecord, 'version'> {
    return {
      chainId: 1,
      token,
      recipient,
      transactionHash: use.hash,
      logIndex: 0,
      kind: use.kind === 'cancel' ? 'cancel' : 'capture',
      orderId: 'one',
      attempt: number,
      blockHash: `0x${String(use.block).padStart(64, 'b')}`,
      blockNumber: use.block,
      blockTime: this.now,
      payer,
      value: 5n,
      submitter: use.by,
      gasUsed: 1n,
      effectiveGasPrice: 1n,
      removed: false,
    }
  }

  private evidenceOf(number: number): Evidence | undefined {
    const use = this.chain.get(number)
    const attempt = this.ofNumber(number)
    if (use?.kind === 'consumed')
      return {
        kind: 'consumed',
        transactionHash: use.hash,
        blockNumber: use.block,
      }
    if (use) return { kind: use.kind, proof: this.proofOf(number, use) }
    if (!attempt || this.now < lastSecondOf(attempt)) return undefined
    return {
      kind: 'expired',
      blockNumber: BigInt(this.count),
      blockTime: this.now,
      // The first block past the window can still be replaced.
      final: ['expired', 'voided'].includes(this.stored.order.state),
    }
  }

  /** The watcher and the submitter learn what the chain shows. */
  settle(): boolean {
    const before = this.stored
    this.write((collected) => {
      for (const { number } of before.attempts) {
        const evidence = this.evidenceOf(number)
        const stored = collected.find('one', number)
        if (!evidence || !stored) continue
        const isOver = evidence.kind === 'expired'
        if (isOver && numberOf(this.inFlight) === number) continue
        collected.add(this.decide(evidence, stored))
        for (const row of this.sent)
          if (numberOf(row) === number && row.inFlight)
            collected.add({ transactions: [{ ...row, inFlight: false }] })
      }
    })
    return this.stored !== before
  }

  private undo(place: number): boolean {
    const found = [...this.chain].filter(([, { isFinal }]) => !isFinal)
    const [number] = found.at(place) ?? []
    if (number === undefined) return false
    this.chain.delete(number)
    return true
  }

  reorg(): boolean {
    return this.undo(-1)
  }

  reorgFirst(): boolean {
    return this.undo(0)
  }

  move(): boolean {
    const found = [...this.chain].filter(([, { isFinal }]) => !isFinal)
    const [number, use] = found.at(-1) ?? []
    if (number === undefined || !use) return false
    this.use(number, use.kind, use.by, use.hash)
    return true
  }

  /** The watcher learns what a reorganization removed. */
  unsettle(): boolean {
    const { order, proofs } = this.stored
    const facts = { transactions: this.sent, blockTime: this.now }
    const gone = proofs.filter(
      ({ attempt = 0, removed, transactionHash }) =>
        !removed && this.chain.get(attempt)?.hash !== transactionHash,
    )
    const isSpent = this.chain.get(order.attempt)?.hash === order.settledHash
    const isConsumed = order.state === 'consumed' && !isSpent
    if (gone.length === 0 && !isConsumed) return false
    this.write((collected) => {
      const inputs: Input[] = gone.map((proof) => ({
        kind: 'gone',
        proof,
        ...facts,
      }))
      if (isConsumed) inputs.push({ kind: 'gone', ...facts, transactions: [] })
      for (const input of inputs)
        collected.apply('one', [(stored) => this.decide(input, stored)])
    })
    return true
  }

  private raise(finality: 'safe' | 'finalized'): boolean {
    const { order, proofs } = this.stored
    const number = [...this.chain].find(
      ([, { hash }]) => hash === order.settledHash,
    )?.[0]
    const use = this.chain.get(number ?? 0)
    if (!use || order.finality === 'finalized') return false
    if (order.finality === 'preconfirmed' || order.finality === undefined)
      return false
    const proof = proofs.find(
      ({ removed, transactionHash }) =>
        !removed && transactionHash === order.settledHash,
    )
    if (finality === 'finalized') use.isFinal = true
    const { fulfilAt } = this.rules
    this.write((collected) =>
      collected.apply('one', [
        (now) => this.decide({ kind: 'final', proof, finality, fulfilAt }, now),
        ...(finality === 'finalized' ? [eraseSecrets(this.sent)] : []),
      ]),
    )
    return true
  }

  safe(): boolean {
    return this.raise('safe')
  }

  final(): boolean {
    return this.raise('finalized')
  }

  later(): boolean {
    this.now += 50n
    return true
  }

  over(): boolean {
    this.now = lastSecondOf(this.stored.attempt) + 1n
    return true
  }

  /** A reorganization brings a block back whose time is in the window. */
  back(): boolean {
    const { order, attempt } = this.stored
    const isOver = this.now >= lastSecondOf(attempt)
    if (!isOver || order.finality === 'finalized') return false
    this.now -= 100n
    return true
  }
}
