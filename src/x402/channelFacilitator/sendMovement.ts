import type { Client, Hash } from 'viem'
import {
  insertMovement,
  type PlannedMovement,
  rehearsePlanned,
  sealMovement,
} from '../../channels/engine.js'
import { endOnAbort } from '../../core/onAbort.js'
import {
  loadOrders,
  type OrdersContext,
  waitForCapture,
} from '../../orders/engine.js'
import type { SettledCapture } from '../../orders/index.js'
import type {
  OrderRecord,
  OrderState,
  StoreReader,
  StoreWriter,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import type {
  FacilitatorContext,
  SettledCaller,
} from '../facilitator/facilitatorContext.js'
import {
  type KeptGas,
  reserveCallerGas,
  settleGas,
} from '../facilitator/gasBudget.js'
import {
  keptGasOf,
  loadOwned,
  markAnswered,
} from '../facilitator/ownedPayment.js'
import { type HeldSettle, takeSettle } from '../facilitator/settleLease.js'
import { pending, type RefusedCall, refuseCall } from './context.js'

/** A movement that a call wants. */
type WantedMovement = {
  caller: SettledCaller
  client: Client
  signal: AbortSignal
  until: number
  /** First word of this movement's error codes. */
  action: 'deposit' | 'claim' | 'settle' | 'refund'
  /**
   * Ids for the movement of this call, in the order in which they are used: the
   * next one once a movement has ended without effect.
   */
  ids: readonly string[]
  /** Builds the movement if none is on record. Its id is replaced. */
  plan(): Promise<PlannedMovement | RefusedCall>
  /** Runs in the write that stores the movement. False: stores nothing. */
  admit?: ((tables: StoreWriter, id: string) => Promise<boolean>) | undefined
  /** Runs in the write that marks the first answer. */
  keep?:
    | ((tables: StoreWriter, made: MadeMovement) => Promise<void>)
    | undefined
}

/** What the chain shows of a movement. `value`: base units that it moved. */
export type MadeMovement = Pick<
  SettledCapture,
  'transactionHash' | 'blockNumber' | 'blockTime'
> & { value: bigint }

/** A movement that a block has, or why there is none. */
type SentMovement = { ok: true; made: MadeMovement } | RefusedCall

/**
 * Puts a movement on record, has the submitter send it, and waits until a block
 * has it. If the movement is on record already, waits for that one, and sends
 * nothing more.
 */
export async function sendMovement(
  facilitator: FacilitatorContext,
  wanted: WantedMovement,
): Promise<SentMovement> {
  const { context } = facilitator
  const { signal, until } = wanted
  const id = await context.store.read((tables) => chooseId(tables, wanted.ids))
  if (id === undefined) return refuseCall(`${wanted.action}_transaction_failed`)
  // Calls for one movement run one at a time.
  const held = await takeSettle(context, id, { until, signal })
  if (!held) return pending(await findHash(facilitator, id))
  try {
    return await held.kept.during(() => {
      const alone = { ...wanted, id, held }
      return sendAlone(facilitator, alone)
    })
  } catch (error) {
    // After any other code, the server might ask the client to pay again.
    const hash = await findHash(facilitator, id)
    if (hash !== undefined) return pending(hash)
    throw error
  } finally {
    await held.kept.release()
  }
}

const over: readonly OrderState[] = [
  'expired',
  'canceled',
  'consumed',
  'voided',
]

/** Chooses the id of the movement on record, or the next one that is free. */
async function chooseId(
  tables: Pick<StoreReader, 'orders'>,
  ids: readonly string[],
): Promise<string | undefined> {
  const found = await tables.orders.find({ ids })
  const states = new Map(found.map(({ id, state }) => [id, state]))
  return ids.find((id) => !over.includes(states.get(id) ?? 'drafted'))
}

/** Finds the transaction of a movement that was sent. */
async function findHash(
  { context }: FacilitatorContext,
  id: string,
): Promise<Hash | undefined> {
  const rows = await context.store.read((tables) =>
    tables.transactions.find({ orderIds: [id] }),
  )
  return rows.flatMap(({ hash }) => (hash ? [hash] : [])).at(-1)
}

type Alone = WantedMovement & { id: string; held: HeldSettle }

async function sendAlone(
  facilitator: FacilitatorContext,
  alone: Alone,
): Promise<SentMovement> {
  const { context, instance } = facilitator
  const { id, caller, action, until, signal } = alone
  const owned = await loadOwned(context, id)
  if (owned && !isOf(owned.found.order, caller))
    return refuseCall(`${action}_simulation_failed`)
  const stored = owned ? owned.found.order : await store(facilitator, alone)
  if ('code' in stored) return stored
  const { state, requested } = stored
  const isRefused = state === 'stored' && requested === undefined
  if (isRefused && !(await admitAgain(facilitator, alone)))
    return refuseCall('channel_busy')
  const again = isRefused
    ? await reserveAgain(facilitator, stored, caller)
    : undefined
  if (again === 'exceeded') return { ok: false, code: 'gas_budget_exceeded' }
  const order = again ? await instance.drive().requestCapture(id) : stored
  const timeout = Math.max(0, Math.ceil(until - performance.now()))
  const waiting = instance.hold(
    waitForCapture(context, instance.drive(), order, { timeout }),
  )
  const result = await endOnAbort(waiting, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error
    return undefined
  })
  const isOver = result?.status === 'captured' || result?.status === 'rejected'
  if (again && isOver) await again.giveBackUnused()
  if (result?.status === 'captured') {
    const { proof } = result
    const made = { ...proof, value: await loadValue(facilitator, id, proof) }
    await settleAnswer(facilitator, alone, { ...proof, ...made })
    return { ok: true, made }
  }
  return result?.status === 'rejected'
    ? refuseCall(`${action}_transaction_failed`, result.reason)
    : pending(await findHash(facilitator, id))
}

/** Another movement may have come since this one was refused. */
async function admitAgain(
  { context }: FacilitatorContext,
  { id, admit }: Alone,
): Promise<boolean> {
  return !admit || writeAgain(context, (tables) => admit(tables, id))
}

/**
 * Reserves gas for another transaction of a movement: the one before reverted,
 * and used what was reserved for it. Returns `exceeded` if the caller's budget
 * has no room for it.
 */
async function reserveAgain(
  { context }: FacilitatorContext,
  order: OrderRecord,
  caller: SettledCaller,
): Promise<{ giveBackUnused(): Promise<void> } | 'exceeded'> {
  const { gas } = keptGasOf(order)
  const before = await countSent(context, order.id)
  const kept = await reserveCallerGas(context, caller, gas || undefined)
  if (!kept) return 'exceeded'
  return {
    /** Gives it back if no other transaction was sent. */
    giveBackUnused: async () => {
      if ((await countSent(context, order.id)) === before)
        await giveBack(context, caller, kept)
    },
  }
}

/** Counts the transactions that were made for a movement. */
async function countSent(
  { store }: Pick<OrdersContext, 'store'>,
  id: string,
): Promise<number> {
  const rows = await store.read((tables) =>
    tables.transactions.find({ orderIds: [id] }),
  )
  return rows.length
}

function giveBack(
  context: Pick<OrdersContext, 'store'>,
  caller: SettledCaller,
  kept: KeptGas,
): Promise<void> {
  return writeAgain(context, (tables) =>
    settleGas(tables, caller, { kept, used: 0n }),
  )
}

/** Loads the base units that moved: a claim may settle more or less. */
async function loadValue(
  { context }: FacilitatorContext,
  id: string,
  { transactionHash }: SettledCapture,
): Promise<bigint> {
  const proofs = await context.store.read((tables) =>
    tables.proofs.find({ orderIds: [id] }),
  )
  const own = proofs.find((row) => row.transactionHash === transactionHash)
  return own?.value ?? 0n
}

/** True for a movement that this caller asked for. */
export function isOf(
  { metadata }: Pick<OrderRecord, 'metadata'>,
  { name }: SettledCaller,
): boolean {
  return Object(metadata.x402).settledFor === name
}

/** Rehearses a new movement, reserves its gas, and stores it. */
async function store(
  { context, instance }: FacilitatorContext,
  { id, caller, client, action, plan, admit }: Alone,
): Promise<OrderRecord | RefusedCall> {
  const planned = await plan()
  if ('code' in planned) return planned
  const rehearsed = await rehearsePlanned(context, client, planned)
  if (!rehearsed.ok)
    return refuseCall(`${action}_simulation_failed`, rehearsed.reason)
  const kept = await reserveCallerGas(context, caller, rehearsed.gas)
  if (!kept) return { ok: false, code: 'gas_budget_exceeded' }
  const gas = { day: kept.day, kept: String(kept.gas) }
  const metadata = { x402: { settledFor: caller.name, gas } }
  try {
    const { order, attempt, secret } = planned
    const sealed = await sealMovement(context, {
      order: { ...order, id, metadata },
      attempt: { ...attempt, orderId: id },
      secret,
    })
    const stored = await writeAgain(context, async (tables) =>
      !admit || (await admit(tables, id))
        ? insertMovement(context, tables, sealed)
        : undefined,
    )
    if (!stored) {
      await giveBack(context, caller, kept)
      return refuseCall('channel_busy')
    }
    const { chainId, submitter: account } = stored
    instance.drive().wake({ chainId, account })
    return stored
  } catch (error) {
    // A write whose answer was lost may have stored it: then the gas is used.
    const found = await context.store.read((tables) =>
      loadOrders(tables, { ids: [id] }),
    )
    if (found.size === 0) await giveBack(context, caller, kept)
    throw error
  }
}

/** Marks the first answer. Counts the gas that was used in the same write. */
async function settleAnswer(
  { context }: FacilitatorContext,
  { id, held, caller, keep }: Alone,
  proof: SettledCapture & MadeMovement,
): Promise<void> {
  const isOurs = context.wallets.some(
    ({ submitter }) => submitter.account === proof.submitter,
  )
  await markAnswered(context, id, {
    lease: held.lease,
    settle: async (tables, kept) => {
      // If somebody else sent it, ours may have failed and used gas.
      if (isOurs) await settleGas(tables, caller, { kept, used: proof.gasUsed })
      await keep?.(tables, proof)
    },
  })
}
