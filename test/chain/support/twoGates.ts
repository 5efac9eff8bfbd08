import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CreateOrdersParameters } from 'countersign/orders'
import { sqliteStore } from 'countersign/sql'
import type { X402GateParameters } from 'countersign/x402'
import { onTestFinished } from 'vitest'
import { fundedAccount } from './desk.js'
import { type HeldNode, holdNode } from './heldNode.js'
import { chain, type GateShop, openGateShop } from './x402Desk.js'

type Second = Partial<Omit<X402GateParameters, 'orders'>> & {
  policy?: CreateOrdersParameters['policy']
}

/**
 * Two gates of one merchant, each with a connection of its own to one database,
 * as two processes have them. The node of the second can be held.
 */
export async function openTwoGates({
  policy,
  ...second
}: Second = {}): Promise<{
  first: GateShop
  second: GateShop
  node: HeldNode
}> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-two-'))
  const file = join(folder, 'orders.db')
  const sellers = [await fundedAccount(chain)]
  const store = () => sqliteStore({ file })
  const node = holdNode(chain)
  const shops = {
    first: await openGateShop({}, { store: store(), sellers }),
    second: await openGateShop(second, {
      store: store(),
      sellers,
      client: node.client,
      policy,
    }),
  }
  // The token is read before anything is held.
  await shops.second.gate.claimRecipients()
  onTestFinished(async () => {
    await shops.first.orders.close()
    await shops.second.orders.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { ...shops, node }
}
