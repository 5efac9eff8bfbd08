import type { OrderRecord } from 'countersign/store'
import { getBlock, mine } from 'viem/actions'
import { getReceipt } from '../../../src/chain/state/getReceipt.js'
import { depositCollector } from '../../../src/channels/contract/channelDomain.js'
import { wait } from '../../../src/core/wait.js'
import type { SaleProcess } from './channelSale.js'
import { chain } from './x402Desk.js'

/**
 * Waits until the chain has each deposit that was sent and can still be made. A
 * reorganization can have undone one: workers send it again at their next looks,
 * of which a clock that jumps past its deadline would leave them none.
 */
export async function untilDepositsStand(process: SaleProcess): Promise<void> {
  let missing: string[] = []
  for (let looks = 0; looks < mostLooks; looks++) {
    missing = await findMissing(process)
    if (missing.length === 0) return
    // A reorganization can undo a jump of the clock. Until a block has the right
    // time again, workers take the node for one of older state, and send nothing.
    await mine(chain.clients.test, { blocks: 1 })
    await wait(20)
  }
  throw new Error(`deposits are not sent again: ${missing}`)
}

const mostLooks = 500

async function findMissing(process: SaleProcess): Promise<string[]> {
  const { public: client } = chain.clients
  const { timestamp } = await getBlock(client)
  const deposits = await loadDeposits(process).catch(() => undefined)
  // A store with faults answers the next time.
  if (!deposits) return ['unknown']
  const missing: string[] = []
  for (const { id, settledHash, deadline } of deposits) {
    if (deadline <= timestamp) continue
    const receipt = settledHash && (await getReceipt(client, settledHash))
    if (!receipt) missing.push(id)
  }
  return missing
}

/** Deposits that were sent, and are not refused or expired. */
async function loadDeposits({
  store,
  seller,
}: SaleProcess): Promise<OrderRecord[]> {
  const { chain: network, token } = chain
  const oldest = { chainId: network.id, token, recipient: seller }
  const rows = await store.read((tables) =>
    tables.orders.find({ oldest, limit: 1_000 }),
  )
  const isSent = ({ payee, state }: OrderRecord) =>
    payee === depositCollector && ['capturing', 'captured'].includes(state)
  return rows.filter(isSent)
}
