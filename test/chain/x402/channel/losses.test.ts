import {
  depositCall,
  finalizeWithdrawCall,
  initiateWithdrawCall,
} from 'countersign/channels'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { getBlockNumber, getTransaction } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  channelOfferOf,
  type Signing,
  signedDeposit,
} from '../../support/channelPayer.js'
import {
  channelAt,
  openSale,
  type Sale,
  type SaleProcess,
  sendAs,
  until,
} from '../../support/channelSale.js'
import { deposit, most } from '../../support/channelShop.js'
import { fundedAccount, newAccount } from '../../support/desk.js'
import { reformSignature } from '../../support/reformSignature.js'
import {
  balanceOf,
  chain,
  requiredBy,
  settlementOf,
} from '../../support/x402Desk.js'

/** One of the nine ways in which sellers lose goods with x402's stock server. */
const name = (number: string, loss: string) =>
  `${number}, the stock server: ${loss}; here nothing is lost`

const scheme = 'invalid_batch_settlement_evm_'

type Buyer = Awaited<ReturnType<typeof fundedAccount>>

/** Somebody who deposited, and what was bought for it. */
async function sell(
  sale: Sale,
  process: SaleProcess,
  goods: bigint,
  {
    least = deposit,
    ...signing
  }: Partial<Signing> & { costs?: string; least?: bigint } = {},
): Promise<Buyer> {
  const buyer = await fundedAccount(chain, 2n * deposit)
  for (let bought = 1n; bought <= goods; bought++) {
    const answer = await sale.buy(process, buyer, {
      max: bought * most,
      ...(bought === 1n && { deposit: least }),
      ...signing,
    })
    expect(answer.status).toBe(200)
  }
  return buyer
}

const refund: Signing['spoil'] = (payload) => ({ ...payload, type: 'refund' })

/** Asks for what is left. Nothing is served. */
async function askRefund(
  sale: Sale,
  process: SaleProcess,
  buyer: Buyer,
  max: bigint,
) {
  const signing = { max, spoil: refund, costs: '0' }
  return settlementOf(await sale.buy(process, buyer, signing))
}

const stateOf = async ({ channels }: SaleProcess, payer: Buyer) =>
  (await channels.list({ payer: payer.address })).channels[0]

test(
  name('E1', 'anybody has the deposit paid back after 9 goods'),
  async () => {
    const sale = openSale()
    const shop = await sale.open()
    const buyer = await sell(sale, shop, 9n)
    const max = 9n * most
    const stranger = { max, signer: newAccount(), spoil: refund }
    const asked = await sale.buy(shop, buyer, stranger)
    expect(requiredBy(asked).error).toBe(`${scheme}voucher_signature`)
    const own = await sale.buy(shop, buyer, {
      max,
      spoil: (payload) => ({ ...payload, type: 'refund', claims: [] }),
    })
    expect(requiredBy(own).error).toBe(`${scheme}refund_payload`)
    expect(await balanceOf(buyer.address)).toBe(deposit)
    // The payer gets what is left, once the goods are claimed.
    const back = await askRefund(sale, shop, buyer, max)
    expect(back).toMatchObject({ amount: '910000' })
    expect(await balanceOf(buyer.address)).toBe(2n * deposit - max)
    await sale.expectNothingLost(shop)
  },
)

test(
  name(
    'E2',
    'a stranger takes a voucher out of a 402, and claims up to its ceiling instead of what was charged',
  ),
  async () => {
    const sale = openSale()
    const shop = await sale.open()
    const buyer = await sell(sale, shop, 1n, { costs: '0.0001' })
    const second = { max: 100n + most, costs: '0.0001' }
    expect((await sale.buy(shop, buyer, second)).status).toBe(200)
    const answer = await sale.buy(shop, buyer, {
      max: 5n * most,
      signer: newAccount(),
    })
    const { extra } = channelOfferOf(answer)
    expect(extra).not.toHaveProperty('voucherState')
    expect(extra).not.toHaveProperty('channelState')
    await sale.expectNothingLost(shop)
    const { id } = await channelAt(shop, buyer)
    expect(sale.servedOver(id)).toBe(200n)
  },
)

test.each(['v of 0 or 1', 'high s'] as const)(
  name(
    'E4',
    'a voucher with %s is served, and the claims of all channels fail',
  ),
  async (form) => {
    const sale = openSale()
    const shop = await sale.open()
    await sell(sale, shop, 3n, {
      spoil: ({ voucher, ...payload }) => {
        const { signature } = voucher as { signature: Hex }
        const reformed = reformSignature(signature, form)
        const spoilt = { ...(voucher as object), signature: reformed }
        return { ...payload, voucher: spoilt }
      },
    })
    await sell(sale, shop, 1n)
    await sale.expectNothingLost(shop)
  },
)

test(
  name('E5', 'a payer who is a contract denies its vouchers after 10 goods'),
  async () => {
    const sale = openSale()
    const shop = await sale.open()
    const config = { payerAuthorizer: `0x${'00'.repeat(20)}` } as const
    const buyer = await fundedAccount(chain, 2n * deposit)
    const { address } = buyer
    const first = await sale.buy(shop, buyer, { max: most, deposit, config })
    expect(requiredBy(first).error).toBe(`${scheme}voucher_signature`)
    // Nor is a channel taken that the payer opened without the gate.
    const offer = await shop.answer(new Request('https://shop.example'))
    const made = await signedDeposit(buyer, offer, deposit, config)
    const { id, config: terms } = await channelAt(shop, buyer, config)
    await sendAs(
      chain.clients.relayer.account,
      depositCall({ config: terms, ...made }),
    )
    // Says yes to everything, as long as it likes to.
    const bytecode = '0x631626ba7e60e01b5f5260205ff3'
    await chain.clients.test.setCode({ address, bytecode })
    const next = await sale.buy(shop, buyer, { max: most, config })
    expect(requiredBy(next).error).toBe(`${scheme}voucher_signature`)
    expect(sale.servedOver(id)).toBe(0n)
    await sale.expectNothingLost(shop)
  },
)

test(
  name(
    'E6',
    'a refund above the rest is signed, and the payer sends it alone, before the claim',
  ),
  async () => {
    const sale = openSale()
    const shop = await sale.open()
    const buyer = await sell(sale, shop, 9n)
    const max = 9n * most
    const { id } = await channelAt(shop, buyer)
    for (const amount of ['910001', '999999']) {
      const answer = await sale.buy(shop, buyer, {
        max,
        spoil: (payload) => ({ ...payload, type: 'refund', amount }),
      })
      expect(requiredBy(answer).error).toBe(`${scheme}refund_amount_invalid`)
    }
    const signed = await shop.store.read(({ orders }) =>
      orders.find({ ids: [`${id}-0`] }),
    )
    expect(signed).toEqual([])
    const { transaction } = await askRefund(sale, shop, buyer, max)
    const hash = transaction as Hex
    const { input } = await getTransaction(chain.clients.public, { hash })
    const to = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003'
    await expect(sendAs(buyer, { to, data: input })).rejects.toThrow()
    expect(await balanceOf(buyer.address)).toBe(2n * deposit - max)
    await sale.expectNothingLost(shop)
  },
)

test(
  name(
    'E7',
    'while a handler works, a second request takes over its channel, and the first is served for nothing',
  ),
  async () => {
    let release = () => {}
    let begun = () => {}
    const isHeld = new Promise<void>((resolve) => {
      begun = resolve
    })
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const sale = openSale(async ({ url }) => {
      if (new URL(url).searchParams.has('costs')) {
        begun()
        await held
      }
      return Response.json({ goods: true })
    })
    const offer = { deposit: '0.02' }
    const one = await sale.open({ offer })
    const other = await sale.open({ offer })
    const least = 2n * most
    const buyer = await sell(sale, one, 2n, { least })
    const max = 3n * most
    const tiny = await sale.buy(one, buyer, { max, deposit: 1n })
    expect(tiny.status).toBe(402)
    const slow = sale.buy(one, buyer, { max, deposit: least, costs: '0.01' })
    await isHeld
    expect((await sale.buy(other, buyer, { max })).status).toBe(200)
    release()
    const answer = await slow
    expect(answer.status).toBe(402)
    expect(await answer.text()).not.toContain('goods')
    await sale.expectNothingLost(one)
  },
)

test(
  name(
    'E8',
    'a reorganization takes the deposit back, and 9 goods are served on its copy',
  ),
  async () => {
    const sale = openSale()
    const shop = await sale.open()
    const { public: reader } = chain.clients
    const buyer = await fundedAccount(chain, deposit)
    const other = await fundedAccount(chain, deposit)
    const before = await getBlockNumber(reader, { cacheTime: 0 })
    const free = { max: most, deposit, costs: '0' }
    expect((await sale.buy(shop, buyer, free)).status).toBe(200)
    const paid = { max: most, deposit }
    expect((await sale.buy(shop, other, paid)).status).toBe(200)
    const depth = Number(
      (await getBlockNumber(reader, { cacheTime: 0 })) - before,
    )
    await chain.reorg({ depth, transactions: 'dropped' })
    // The payer spends the money before the deposit comes again.
    const args = [chain.accounts[0]?.address ?? '0x', deposit] as const
    await sendAs(buyer, {
      to: chain.token,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args,
      }),
    } as never)
    shop.run()
    await until(async () => (await stateOf(shop, buyer))?.balance === 0n)
    for (let goods = 0; goods < 9; goods++)
      expect((await sale.buy(shop, buyer, { max: most })).status).toBe(402)
    // The deposit of the other one is sent again, and pays for what was served.
    await until(async () => {
      await chain.warp(1)
      return (await stateOf(shop, other))?.balance === deposit
    })
    const next = await sale.buy(shop, other, { max: 2n * most })
    expect(next.status).toBe(200)
    await sale.expectNothingLost(shop)
  },
)

test('a deposit that a reorganization undid is made once, though its payer signs another meanwhile', async () => {
  const sale = openSale()
  const shop = await sale.open({ policy: { copyFor: 0n } })
  const { public: reader } = chain.clients
  const buyer = await fundedAccount(chain, 2n * deposit)
  const before = await getBlockNumber(reader, { cacheTime: 0 })
  const first = await sale.buy(shop, buyer, { max: most, deposit })
  expect(first.status).toBe(200)
  const head = await getBlockNumber(reader, { cacheTime: 0 })
  await chain.reorg({ depth: Number(head - before), transactions: 'dropped' })
  // No worker has looked at the chain since; the gate looks at each request.
  const max = 2n * most
  expect((await sale.buy(shop, buyer, { max })).status).toBe(402)
  expect((await sale.buy(shop, buyer, { max, deposit })).status).toBe(503)
  shop.run()
  await until(async () => {
    await chain.warp(1)
    return (await stateOf(shop, buyer))?.balance === deposit
  })
  expect((await sale.buy(shop, buyer, { max })).status).toBe(200)
  expect(await balanceOf(buyer.address)).toBe(deposit)
  await sale.expectNothingLost(shop)
})

test(
  name(
    'E14 and E9',
    'two processes without a common store, or a store that is gone: 7 of 12 goods can be claimed',
  ),
  async () => {
    const sale = openSale()
    const processes = [await sale.open(), await sale.open()]
    const buyer = await fundedAccount(chain, 2n * deposit)
    const honest = sale.stock(buyer)
    for (let goods = 0; goods < 12; goods++) {
      const process = processes[Math.floor(goods / 2) % 2]
      if (process) expect((await honest(process)).status).toBe(200)
    }
    // Another process has nothing but the database, and the client lost its state.
    const later = await sale.open()
    const forgot = await sale.buy(later, buyer, { max: most })
    expect(forgot.status).toBe(402)
    const again = await sale.stock(buyer)(later)
    expect(again.status).toBe(200)
    expect(await balanceOf(buyer.address)).toBe(deposit)
    await sale.expectNothingLost(later)
  },
)

// The last, because it moves the chain's clock.
test(
  name(
    'E3',
    'a payer announces a withdrawal, is served until it ends, and withdraws the whole deposit',
  ),
  async () => {
    const sale = openSale()
    const shop = await sale.open()
    const end = shop.run()
    const buyer = await sell(sale, shop, 5n)
    const { id, config } = await channelAt(shop, buyer)
    await sendAs(buyer, initiateWithdrawCall({ config, value: deposit }))
    let refused = 0
    for (let goods = 6n; refused === 0; goods++) {
      const answer = await sale.buy(shop, buyer, { max: goods * most })
      if (answer.status === 200) continue
      refused = answer.status
      expect(requiredBy(answer).error).toBe(
        `${scheme}cumulative_exceeds_balance`,
      )
    }
    await until(async () => {
      await chain.warp(1)
      return (await stateOf(shop, buyer))?.unclaimed === 0n
    })
    await chain.warp(901)
    await sendAs(buyer, finalizeWithdrawCall({ config }))
    const goods = sale.servedOver(id)
    expect(await balanceOf(buyer.address)).toBe(2n * deposit - goods)
    await end()
    await sale.expectNothingLost(shop)
  },
)
