import { createCaptureKey, revokeCaptureKey } from 'countersign/batches'
import { type CaptureWallet, createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { memoryStore } from 'countersign/store'
import { createClient } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import {
  chain,
  node,
  openAccount,
  walletOf,
} from '../../chain/support/batchDesk.js'
import { balanceOf, openTreasury } from '../../chain/support/captureKeyDesk.js'
import { type Death, dyingProcess } from '../../chain/support/dyingProcess.js'
import { openShop, storedOrder } from '../../chain/support/shop.js'

type Key = { account: PrivateKeyAccount; wallet: CaptureWallet }

/** Who goes on after the process of a key has died. */
const heirs = [
  'the same key',
  'another key',
  'another key, the first revoked',
  'another key, the first revoked and robbed',
] as const
type Heir = (typeof heirs)[number]

const client = createReadClient({ url: chain.urls.http, chain: chain.chain })
const policy = { pollingInterval: 20, lease: 250 }

async function openKey({
  wallet,
  treasury,
}: Awaited<ReturnType<typeof openTreasury>>): Promise<Key> {
  const account = await openAccount()
  const { permission } = await createCaptureKey(wallet, {
    key: account.address,
    tokens: [chain.token],
  })
  const capturesFor = treasury.address
  return {
    account,
    wallet: { client: walletOf(account), capturesFor, permission },
  }
}

/** A capture by a process that dies at a boundary, and then by its heir. */
async function dieAt(heir: Heir, death?: Death | undefined) {
  const opened = await openTreasury()
  const first = await openKey(opened)
  const second = await openKey(opened)
  const store = memoryStore()
  const given = { store, client, policy }
  const shop = await openShop(chain, { ...given, wallets: [first.wallet] })
  const { id } = await storedOrder(chain, shop)
  await shop.orders.close()

  const process = dyingProcess(death)
  const transport = process.transport(chain.urls.http)
  const { account } = first
  const base = { chain: chain.chain, transport }
  const dying = createOrders({
    store: process.store(store),
    seal: 'none',
    policy,
    tokens: [{ client: createClient(base), token: chain.token }],
    wallets: [{ ...first.wallet, client: createClient({ ...base, account }) }],
  })
  const capturing = dying.capture({ orderId: id })
  capturing.catch(() => undefined)
  const isDead = async () => {
    while (!process.isDead()) await new Promise((done) => setTimeout(done, 10))
  }
  await Promise.race([capturing, isDead()])

  if (heir !== 'the same key') {
    if (heir !== 'another key')
      await revokeCaptureKey(opened.wallet, {
        permission: first.wallet.permission,
      })
    if (heir === 'another key, the first revoked and robbed')
      await node.setBalance({ address: account.address, value: 0n })
    const isBoth = heir !== 'another key'
    const wallets = isBoth ? [first.wallet, second.wallet] : [second.wallet]
    const later = await openShop(chain, { ...given, wallets })
    await later.orders.capture({ orderId: id, timeout: 1_500 })
    await later.orders.close()
  }
  const wallets = [first.wallet, second.wallet]
  const last = await openShop(chain, { ...given, wallets })
  const ending = new AbortController()
  const running = last.orders.run({ signal: ending.signal })
  const { status } = await last.orders.capture({ orderId: id, timeout: 60_000 })
  ending.abort()
  await running
  await last.orders.close()
  return {
    passed: process.passed,
    status,
    paid: await balanceOf(opened.treasury.address),
  }
}

test.each(heirs)(
  'dying anywhere in a capture by a key, a process leaves an order that is captured once, by %s',
  async (heir) => {
    const whole = await dieAt('the same key')
    const deaths = whole.passed.filter(
      ({ name, nth }) => /write|sendRaw/.test(name) || nth === 1,
    )
    expect(deaths.map(({ name }) => name)).toContain(
      'after eth_sendRawTransaction',
    )
    for (const death of deaths) {
      const { status, paid } = await dieAt(heir, death)
      expect({ death, status, paid }).toEqual({
        death,
        status: 'captured',
        paid: 12_500_000n,
      })
    }
  },
  280_000,
)
