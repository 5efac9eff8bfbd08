import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CreateOrdersParameters } from 'countersign/orders'
import { sqliteStore } from 'countersign/sql'
import type { X402GateParameters } from 'countersign/x402'
import { createClient, custom } from 'viem'
import { onTestFinished } from 'vitest'
import { fundedAccount } from './desk.js'
import { chain, type GateShop, openGateShop } from './x402Desk.js'

type Second = Partial<Omit<X402GateParameters, 'orders'>> & {
  policy?: CreateOrdersParameters['policy']
}

/**
 * A node that holds the next verification of a payment, before or after the
 * chain answers it.
 */
export type HeldNode = {
  hold(which: 'question' | 'answer'): { arrived: Promise<void> }
  release(): void
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
  const { client, ...node } = holdNode()
  const shops = {
    first: await openGateShop({}, { store: store(), sellers }),
    second: await openGateShop(second, {
      store: store(),
      sellers,
      client,
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

function holdNode() {
  let held: 'question' | 'answer' | undefined
  let arrive = () => {}
  let release = () => {}
  let released: Promise<void> = Promise.resolve()
  const request = async (asked: { method: string }) => {
    const ask = () => chain.clients.public.request(asked as never)
    if (held === undefined || asked.method !== 'eth_call') return ask()
    const which = held
    held = undefined
    const answer = which === 'answer' ? await ask() : undefined
    arrive()
    await released
    return answer ?? ask()
  }
  return {
    client: createClient({
      chain: chain.chain,
      transport: custom({ request }),
    }),
    hold: (which: 'question' | 'answer') => {
      held = which
      released = new Promise((resolve) => {
        release = resolve
      })
      return {
        arrived: new Promise<void>((resolve) => {
          arrive = resolve
        }),
      }
    },
    release: () => release(),
  }
}
