import { captureCall } from 'countersign'
import { deployDevContract, startDevChain } from 'countersign/devchain'
import { memoryStore, type PaymentStore, sealer } from 'countersign/store'
import { encodeFunctionData, type Hex, keccak256 } from 'viem'
import { getTransactionCount, getTransactionReceipt } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { submitterKey } from '../../../../src/orders/account/submitterState.js'
import { readLedger } from '../../../../src/orders/ledger/readLedger.js'
import { runWorker } from '../../../../src/orders/runWorker.js'
import { sealOf } from '../../../../src/orders/sending/signDrafts.js'
import { compileSolidity } from '../../support/compileSolidity.js'
import {
  draft,
  fakeNode,
  fundedAccount,
  newAccount,
  rpcError,
} from '../../support/desk.js'
import {
  mineLeftovers,
  openShop,
  rowsOf,
  type Shop,
  storeOrder,
  timesPaid,
} from '../../support/orderRows.js'
import { openSqlite } from '../../support/sqliteFiles.js'

const { Calls } = compileSolidity(`
contract Calls {
    function tryAll(address target, bytes[] calldata calls) external {
        for (uint256 i; i < calls.length; i++) {
            (bool ok, ) = target.call(calls[i]);
            ok;
        }
    }
    function all(address target, bytes[] calldata calls) external {
        for (uint256 i; i < calls.length; i++) {
            (bool ok, ) = target.call(calls[i]);
            require(ok);
        }
    }
}`)
if (!Calls) throw new Error('The contract was not compiled.')

const chain = await startDevChain({ blockTime: 0, accounts: 20 })
afterAll(() => chain.stop())
afterAll(mineLeftovers(chain))
const calls = await deployDevContract(chain, { contract: Calls })

const patience = { timeout: 60_000 }
const keys = { one: new Uint8Array(32).fill(1) }

const stores: [string, () => PaymentStore][] = [
  ['memory', memoryStore],
  ['SQLite', openSqlite],
]

type Carrying = {
  shop: Shop
  ids: string[]
  start(): () => Promise<void>
  /** The node answers nothing about a payment any more, until `end`. */
  hide(at: number): { count: () => number; end: () => void }
}

/**
 * A shop whose last process recorded one transaction with payments of these
 * payers, and ended before it sent the bytes.
 */
async function openCarrying(
  store: PaymentStore,
  functionName: 'all' | 'tryAll',
  payers: readonly ('rich' | 'poor')[],
): Promise<Carrying> {
  await store.open()
  const account = await fundedAccount(chain)
  let hidden: string | undefined
  let count = 0
  const { client } = fakeNode(chain, async (request, forward) => {
    if (!hidden || !JSON.stringify(request).includes(hidden)) return forward()
    count++
    throw rpcError(-32603, 'busy')
  })
  const shop = openShop(chain, {
    account,
    store,
    client,
    seal: sealer({ keys, current: 'one' }),
    policy: { blocks: { safe: 1, finalized: 2 }, quietInterval: 100 },
  })
  const { context } = shop
  const payments = await Promise.all(
    payers.map((payer) =>
      draft(chain, {
        to: account.address,
        amount: '1',
        primaryType: 'TransferWithAuthorization',
        ...(payer === 'poor' ? { signer: newAccount() } : {}),
      }),
    ),
  )
  const ids = await Promise.all(
    payments.map((payment) =>
      storeOrder(shop, payment, { state: 'capturing', requested: 'capture' }),
    ),
  )
  const data = payments.map((payment) => captureCall({ payment }).data)
  const { address } = account
  const nonce = await getTransactionCount(chain.clients.public, { address })
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n }
  const gas = 200_000n * BigInt(payers.length)
  const raw = await account.signTransaction({
    chainId: 31337,
    to: calls,
    data: encodeFunctionData({
      abi: Calls?.abi ?? [],
      functionName,
      args: [chain.token, data],
    }),
    nonce,
    gas,
    type: 'eip1559',
    ...fees,
  })
  const submitter = { chainId: 31337, account: address.toLowerCase() as Hex }
  const row = {
    ...submitter,
    nonce,
    bump: 0,
    kind: 'capture',
    movements: ids.map((orderId) => ({ orderId, attempt: 1 })),
    hash: keccak256(raw),
    gas,
    ...fees,
    recordedAt: context.now(),
    inFlight: true,
  } as const
  const sealed = await context.sealer.seal(raw, sealOf(row))
  await store.write(async (tables) => {
    await tables.transactions.insert([{ ...row, raw: sealed }])
    await tables.setValue(submitterKey(submitter), { nextNonce: nonce + 1 })
  })
  const start = () => {
    const stop = new AbortController()
    const { signal } = stop
    const running = runWorker(context, shop.engine, { signal })
    return async () => {
      stop.abort()
      await running
    }
  }
  const hide = (at: number) => {
    hidden = payments[at]?.message.nonce.slice(2)
    const end = () => {
      hidden = undefined
    }
    return { count: () => count, end }
  }
  return { shop, ids, start, hide }
}

const paidOf = async (shop: Shop, ids: readonly string[]) =>
  (await Promise.all(ids.map((id) => timesPaid(shop, [id])))).flat()

const statesOf = async (shop: Shop, ids: readonly string[]) => {
  const { orders } = await rowsOf(shop, ids)
  return ids.map((id) => {
    const { state, reason } = orders.find((one) => one.id === id) ?? {}
    return reason ? `${state}, ${reason}` : state
  })
}

test.each(stores)(
  'in %s, a transaction of several payments gives each an outcome of its own, and one that it did not capture goes on alone',
  async (_, open) => {
    const payers = ['rich', 'poor', 'rich'] as const
    const { shop, ids, start } = await openCarrying(open(), 'tryAll', payers)
    const end = start()
    await expect
      .poll(() => statesOf(shop, ids), patience)
      .toEqual(['captured', 'stored, insufficientFunds', 'captured'])
    expect(await paidOf(shop, ids)).toEqual([1, 0, 1])
    const { proofs, transactions, events } = await rowsOf(shop, ids)
    const types = events.filter(({ orderId }) => orderId === ids[1])
    expect(types.map(({ type }) => type)).toEqual([
      'reopened',
      'captureRejected',
    ])
    // Each of the two has the log of its own payment, and its share of the gas.
    const [sent] = transactions
    const hash = sent?.hash ?? '0x'
    const { gasUsed } = await getTransactionReceipt(chain.clients.public, {
      hash,
    })
    expect(new Set(proofs.map(({ logIndex }) => logIndex)).size).toBe(2)
    expect(proofs.map(({ transactionHash }) => transactionHash)).toEqual([
      hash,
      hash,
    ])
    expect(proofs.reduce((sum, one) => sum + one.gasUsed, 0n)).toBe(gasUsed)
    expect(transactions.map(({ inFlight }) => inFlight)).toEqual([false])
    await end()
    const fees = []
    for await (const row of readLedger(shop.context, {}))
      if (row.type === 'gas') fees.push(row)
    expect(fees.map(({ orderId }) => orderId).sort()).toEqual(
      [ids[0], ids[2]].sort(),
    )
  },
)

test('a transaction of several payments that reverts refuses none of them', async () => {
  const payers = ['rich', 'poor', 'rich'] as const
  const { shop, ids, start } = await openCarrying(memoryStore(), 'all', payers)
  const end = start()
  await expect
    .poll(() => statesOf(shop, ids), patience)
    .toEqual(['captured', 'stored, insufficientFunds', 'captured'])
  expect(await paidOf(shop, ids)).toEqual([1, 0, 1])
  const { orders } = await rowsOf(shop, ids)
  expect(orders.map(({ needsReview }) => needsReview)).toEqual([
    false,
    false,
    false,
  ])
  await end()
})

test('a payment is not sent alone while the chain may still decide another one of its transaction', async () => {
  const payers = ['poor', 'poor'] as const
  const carrying = await openCarrying(memoryStore(), 'tryAll', payers)
  const { shop, ids, start, hide } = carrying
  const { count, end: show } = hide(1)
  const end = start()
  await expect.poll(count, patience).toBeGreaterThan(2)
  expect(await statesOf(shop, ids)).toEqual(['capturing', 'capturing'])
  show()
  await expect
    .poll(() => statesOf(shop, ids), patience)
    .toEqual(['stored, insufficientFunds', 'stored, insufficientFunds'])
  const { events } = await rowsOf(shop, ids)
  expect(events.filter(({ type }) => type === 'reopened')).toHaveLength(2)
  await end()
})

test('the bytes of a transaction of several payments stay until all of them are final', async () => {
  const payers = ['rich', 'rich'] as const
  const { shop, ids, start } = await openCarrying(
    memoryStore(),
    'tryAll',
    payers,
  )
  const end = start()
  const isKept = async () => {
    const { orders, transactions } = await rowsOf(shop, ids)
    const final = orders.filter(({ finality }) => finality === 'finalized')
    const kept = transactions.filter(({ raw }) => raw !== undefined)
    return [final.length, kept.length]
  }
  await expect
    .poll(() => statesOf(shop, ids), patience)
    .toEqual(['captured', 'captured'])
  await expect
    .poll(
      async () => {
        await chain.clients.test.mine({ blocks: 1 })
        return isKept()
      },
      { ...patience, interval: 300 },
    )
    .toEqual([2, 0])
  await end()
})
