import type { Address, Hash } from 'viem'
import { type Changes, settleEarly } from '../../../src/orders/model/changes.js'
import {
  type ChangeSet,
  collectChanges,
} from '../../../src/orders/model/collectChanges.js'
import {
  planAcceptance,
  planCancellation,
  planRenewal,
  planVoid,
} from '../../../src/orders/model/commands.js'
import {
  draftedOrder,
  unsignedAttempt,
} from '../../../src/orders/model/draftedRows.js'
import { endsOf, lastSecondOf } from '../../../src/orders/model/endsOf.js'
import { eraseSecrets } from '../../../src/orders/model/eraseSecrets.js'
import { raiseFinality } from '../../../src/orders/model/raiseFinality.js'
import {
  rejectOrder,
  reopenOrder,
} from '../../../src/orders/model/rejectOrder.js'
import {
  type Evidence,
  settleOrder,
} from '../../../src/orders/model/settleOrder.js'
import type { StoredOrder } from '../../../src/orders/model/storedOrder.js'
import { unsettleOrder } from '../../../src/orders/model/unsettleOrder.js'
import { judgeSending } from '../../../src/orders/submitter/planSending.js'
import { planRecord } from '../../../src/orders/submitter/recordSigned.js'
import { endDue } from '../../../src/orders/submitter/refuseDue.js'
import { planCaptureRequest } from '../../../src/orders/submitter/requestCaptures.js'
import { markForReview } from '../../../src/orders/submitter/settleTransactions.js'
import { takesPayment } from '../../../src/orders/verbs/checkAccept.js'
import { isDead, mayRenew } from '../../../src/orders/verbs/reauthorizeOrder.js'
import { findRefusal } from '../../../src/orders/verbs/writeCancel.js'
import { displaceProof } from '../../../src/orders/watcher/takeBack.js'
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

  private get commandRules() {
    const relays = this.rules.relayCancellations === 'always'
    return { at: this.now, relays, policy: this.policy }
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
    if (!takesPayment(this.stored)) return false
    const { order, attempt: offered } = this.stored
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
    const kept = planAcceptance(order, attempt, facts, this.commandRules)
    this.add({ orders: [kept.order], attempts: [attempt], events: kept.events })
    return true
  }

  accept(): boolean {
    return this.keep(false)
  }

  acceptHeld(): boolean {
    return this.keep(true)
  }

  capture(): boolean {
    const context = { wallets: [], relayers: [] } as never
    const asked = planCaptureRequest(context, this.stored.order, this.now)
    if (!asked) return false
    this.add({ orders: [asked.order], events: [asked.event] })
    this.isGivenUp = false
    return true
  }

  captureEarly(): boolean {
    this.capture()
    const { order } = this.stored
    const isAsked = order.state === 'stored' && order.requested === 'capture'
    const isOpen = isAsked || order.state === 'capturing'
    if (!isOpen || order.early !== undefined) return false
    this.add({ orders: [{ ...order, early: 'reserved' }] })
    return true
  }

  void(): boolean {
    const changes = planVoid(this.stored, this.commandRules)
    this.add(changes)
    if (changes.orders.length === 0) return false
    this.isGivenUp = true
    return true
  }

  cancel(): boolean {
    if (findRefusal(this.stored)) return false
    const { order, attempt } = this.stored
    const { relays } = this.commandRules
    const signed = { ...attempt, cancellation: 'sealed' }
    const found = { ...this.stored, attempt: signed }
    const changes = planCancellation(found, relays, this.commandRules)
    if (order.state !== 'canceling') this.add({ attempts: [signed] })
    this.add(changes)
    return changes.orders.length > 0
  }

  approve(): boolean {
    const { attempt } = this.stored
    if (findRefusal(this.stored) || !attempt.cancellation) return false
    const changes = planCancellation(this.stored, true, this.commandRules)
    this.add(changes)
    return changes.orders.length > 0
  }

  renew(): boolean {
    if (!mayRenew(this.stored)) return false
    const { order, attempt: last } = this.stored
    const next = isDead(this.stored)
      ? { ...this.draw(order.attempt + 1), payer: order.payer }
      : {
          ...last,
          validAfter: this.now - 60n,
          validBefore: this.now + 901n,
          spendableUntil: lastSecondOf(last),
        }
    this.isGivenUp = false
    const changed = planRenewal(order, next, recipient, this.commandRules)
    if (next.number > order.attempt)
      this.stored = {
        ...this.stored,
        attempts: [...this.stored.attempts, next],
      }
    this.add({
      orders: [changed.order],
      attempts: [next],
      events: [changed.event],
    })
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
      this.add(
        reason
          ? rejectOrder(this.stored, { reason, ...this.commandRules })
          : endDue(this.stored),
      )
      return true
    }
    const isCancel = order.requested === 'cancel'
    const kind = isCancel ? ('cancel' as const) : ('capture' as const)
    const call = { to: token, data: '0x' as const }
    const draft = { stored: this.stored, kind, call, gas: 1n } as const
    const hash = this.word()
    const row = {
      chainId: 1,
      account: recipient,
      nonce: this.sent.length,
      bump: 0,
      kind,
      orderId: order.id,
      attempt: attempt.number,
      hash,
      raw: 'sealed',
      gas: 1n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      recordedAt: this.now,
      inFlight: true,
    }
    this.add(planRecord([draft], [{ row }], this.now))
    return true
  }

  preconfirm(): boolean {
    const { order } = this.stored
    const { hash, kind } = this.inFlight ?? {}
    if (order.state !== 'capturing' || kind !== 'capture') return false
    const early = order.early === 'reserved' ? 'answered' : order.early
    const shown = {
      finality: 'preconfirmed',
      settledHash: hash,
      early,
    } as const
    this.add({ orders: [{ ...order, ...shown }] })
    return true
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
    const { kind, attempt: number = 0, hash } = this.inFlight ?? {}
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
    const number = row?.attempt ?? 0
    if (!row || this.chain.has(number)) return false
    this.write((collected) => {
      collected.add({ transactions: [{ ...row, inFlight: false }] })
      const stored = collected.find('one', number)
      if (!stored) return
      const evidence = this.evidenceOf(number)
      if (evidence) {
        collected.add(settleOrder(stored, evidence, this.now))
        return
      }
      collected.add(
        reason
          ? rejectOrder(stored, { reason, ...this.commandRules })
          : reopenOrder(stored, this.commandRules),
      )
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
    const before = this.stored.order
    this.write((collected) => markForReview(collected, 'one', this.now))
    return this.stored.order !== before
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
        if (isOver && this.inFlight?.attempt === number) continue
        collected.add(settleOrder(stored, evidence, this.now))
        for (const row of this.sent)
          if (row.attempt === number && row.inFlight)
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
    const facts = {
      at: this.now,
      blockTime: this.now,
      policy: this.policy as never,
      kinds: new Map([[eip3009.name, eip3009]]) as never,
      transactions: this.sent,
    }
    const gone = proofs.filter(
      ({ attempt = 0, removed, transactionHash }) =>
        !removed && this.chain.get(attempt)?.hash !== transactionHash,
    )
    const isSpent = this.chain.get(order.attempt)?.hash === order.settledHash
    const isConsumed = order.state === 'consumed' && !isSpent
    if (gone.length === 0 && !isConsumed) return false
    this.write((collected) => {
      for (const proof of gone)
        displaceProof(collected, { verdict: 'gone', proof } as never, facts)
      if (isConsumed)
        collected.apply('one', [
          (stored) => unsettleOrder(stored, { ...facts, transactions: [] }),
        ])
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
        ({ order: now }) =>
          raiseFinality(now, proof, { finality, fulfilAt, at: this.now }),
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
