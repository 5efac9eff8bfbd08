import { x402Facilitator } from '@x402/core/facilitator'
import {
  claimTypedData,
  finalizeWithdrawCall,
  getChannel,
  initiateWithdrawCall,
} from 'countersign/channels'
import { memoryStore } from 'countersign/store'
import type { Hex, PrivateKeyAccount } from 'viem'
import {
  getTransactionCount,
  increaseTime,
  mine,
  sendTransaction,
} from 'viem/actions'
import { expect, test } from 'vitest'
import {
  admitOne,
  refundPlace,
} from '../../../../src/x402/channelFacilitator/oneAtOnce.js'
import {
  authorizerOf,
  managerCall,
  network,
  openChannelFacilitator,
  price,
  refundCall,
  rowOf,
  type StockCall,
  signCall,
} from '../../support/channelFacilitatorShop.js'
import { fundedAccount, newAccount } from '../../support/desk.js'
import { chain } from '../../support/x402Desk.js'

const prefix = 'invalid_batch_settlement_evm_'
const deposit = 100_000n
const store = memoryStore()
const seller = await fundedAccount(chain)
const shop = await openChannelFacilitator({ store, sellers: [seller] })
const { seller: receiver, ask } = shop
const authorizer = await authorizerOf(shop)
const at = { receiver, authorizer }

const onChain = (channelId: Hex) =>
  getChannel(chain.clients.public, { channelId })

const countSent = () =>
  getTransactionCount(chain.clients.public, { address: seller.address })

/** Counts the transactions of the seller that some work sends. */
async function counting<result>(
  work: () => Promise<result>,
): Promise<{ result: result; sent: number }> {
  const before = await countSent()
  const result = await work()
  return { result, sent: (await countSent()) - before }
}

async function unpaid(changes = {}) {
  const account = await fundedAccount(chain, 10n * deposit)
  const signing = { max: price, deposit, ...changes }
  return { account, ...(await signCall(account, at, signing)) }
}

async function openedChannel() {
  const call = await unpaid()
  expect(await ask('settle', call)).toMatchObject({ success: true })
  return call
}

const claimOf = async (accounts: readonly PrivateKeyAccount[], max: bigint) => {
  const calls = await Promise.all(
    accounts.map((account) => signCall(account, at, { max })),
  )
  const claims = calls.map((call) => rowOf(call, max))
  return managerCall(receiver, { type: 'claim', claims })
}

test.each([
  ['deposit', unpaid],
  ['claim', async () => claimOf([(await openedChannel()).account], 2n * price)],
  [
    'refund',
    async () => {
      const { account } = await openedChannel()
      const call = await signCall(account, at, { max: price })
      const claims = [rowOf(call, price)]
      return refundCall(receiver, call, { amount: '50000', claims })
    },
  ],
])(
  'a %s that two calls ask for at once, and one later, is made once',
  async (kind, plan) => {
    const call: StockCall = await plan()
    const { result, sent } = await counting(async () => {
      const both = [ask('settle', call), ask('settle', call)]
      return [...(await Promise.all(both)), await ask('settle', call)]
    })
    const [first] = result
    expect(first).toMatchObject({ success: true })
    expect(result).toEqual([first, first, first])
    expect(sent).toBe(kind === 'refund' ? 2 : 1)
  },
)

test('a refund asked for again after its claim has landed is the one on record', async () => {
  const { account } = await openedChannel()
  const call = await signCall(account, at, { max: price })
  const claims = [rowOf(call, price)]
  const wanted = { amount: '50000' }
  const first = refundCall(receiver, call, { ...wanted, claims })
  const made = await ask('settle', first)
  expect(made).toMatchObject({ success: true, amount: '50000' })
  // The server's manager sees that there is nothing left to claim.
  const again = refundCall(receiver, call, wanted)
  const { result, sent } = await counting(() => ask('settle', again))
  expect(result).toEqual(made)
  expect(sent).toBe(0)
})

test('while a refund can be made, there is no other of its refund nonce', async () => {
  const { account } = await openedChannel()
  const call = await signCall(account, at, { max: price })
  const slow = await openChannelFacilitator({
    store,
    sellers: [seller],
    timeout: 1500,
  })
  const refundOf = (amount: string) => refundCall(receiver, call, { amount })
  await chain.clients.test.setAutomine(false)
  const pending = await slow.ask('settle', refundOf('50000'))
  expect(pending.errorReason).toBe('settlement_pending')
  // Nodes that simulate on the latest block would let another one through.
  const other = { key: refundPlace(call.id), id: 'other', until: 0n }
  expect(await store.write((tables) => admitOne(tables, other))).toBe(false)
  await chain.clients.test.setAutomine(true)
  await mine(chain.clients.test, { blocks: 1 })
  expect(await ask('settle', refundOf('50000'))).toMatchObject({
    success: true,
    transaction: pending.transaction,
  })
})

test('settling twice at once moves the money once', async () => {
  const { account } = await openedChannel()
  await ask('settle', await claimOf([account], price))
  const call = managerCall(receiver, {
    type: 'settle',
    receiver,
    token: chain.token,
  })
  const { result, sent } = await counting(() =>
    Promise.all([ask('settle', call), ask('settle', call)]),
  )
  expect(result[0]).toMatchObject({ success: true, amount: String(price) })
  expect(result[1]).toEqual(result[0])
  expect(sent).toBe(0)
})

test('a deposit that no block has yet is pending; another process finds it, and none is sent again', async () => {
  const slow = await openChannelFacilitator({
    store,
    sellers: [seller],
    timeout: 1500,
  })
  const call = await unpaid()
  await chain.clients.test.setAutomine(false)
  const pending = await slow.ask('settle', call).finally(() => undefined)
  expect(pending).toMatchObject({
    success: false,
    errorReason: 'settlement_pending',
  })
  expect(pending.transaction).toMatch(/^0x/)
  // The client signs another deposit, because its answer was lost.
  const other = await signCall(call.account, at, { max: price, deposit })
  for (const route of ['verify', 'settle'] as const) {
    const answer = await ask(route, other)
    expect(answer.invalidReason ?? answer.errorReason).toBe(
      `${prefix}channel_busy`,
    )
  }
  await chain.clients.test.setAutomine(true)
  await mine(chain.clients.test, { blocks: 1 })
  const settled = await ask('settle', call)
  expect(settled).toMatchObject({
    success: true,
    transaction: pending.transaction,
    amount: String(deposit),
    extra: { channelState: { balance: String(deposit) } },
  })
  expect(await onChain(call.id)).toMatchObject({ balance: deposit })
  // The server may ask for the same request again after a crash.
  expect(await ask('verify', call)).toMatchObject({ isValid: true })
})

test('deposits and claims count towards the gas of a caller', async () => {
  const limited = await openChannelFacilitator({
    callers: { one: { name: 'one', gasPerDay: 400_000n } },
  })
  const own = {
    receiver: limited.seller,
    authorizer: await authorizerOf(limited),
  }
  const plan = async () => {
    const account = await fundedAccount(chain, deposit)
    return signCall(account, own, { max: price, deposit })
  }
  const calls = [await plan(), await plan(), await plan()]
  for (const call of calls.slice(0, 2)) {
    // What the deposit may use still fits, though `maxCaptureGas` does not.
    expect(await limited.ask('verify', call)).toMatchObject({ isValid: true })
    expect(await limited.ask('settle', call)).toMatchObject({ success: true })
  }
  const last = calls.at(-1) ?? (await plan())
  const refused = [
    (await limited.ask('verify', last)).invalidReason,
    (await limited.ask('settle', last)).errorReason,
  ]
  expect(refused).toEqual(['gas_budget_exceeded', 'gas_budget_exceeded'])
  // One that is made needs no more gas.
  expect(await limited.ask('verify', calls[0] ?? last)).toMatchObject({
    isValid: true,
  })
})

test('the scheme works in this process, registered beside the exact one', async () => {
  const caller = { name: 'one' }
  const { facilitator } = shop
  const stock = new x402Facilitator()
    .register(network, facilitator.schemeFor(caller))
    .register(network, await facilitator.channelSchemeFor(caller))
  expect(stock.getSupported().kinds).toMatchObject([
    { scheme: 'exact' },
    { scheme: 'batch-settlement', extra: { receiverAuthorizer: authorizer } },
  ])
  const { paymentPayload, paymentRequirements } = await unpaid()
  const sent = [paymentPayload, paymentRequirements] as unknown as Parameters<
    typeof stock.settle
  >
  expect(await stock.verify(...sent)).toMatchObject({ isValid: true })
  expect(await stock.settle(...sent)).toMatchObject({ success: true })
})

const own = newAccount()
const signedAt = { receiver, authorizer: own.address }

/** A claim that the server's own authorizer signed. */
async function signedClaim(accounts: readonly PrivateKeyAccount[]) {
  const signing = { max: price }
  const calls = await Promise.all(
    accounts.map((account) => signCall(account, signedAt, signing)),
  )
  const rows = calls.map(({ config, paymentPayload }) => ({
    config,
    maxClaimable: price,
    signature: Object(paymentPayload.payload).voucher.signature,
    claimed: price,
  }))
  const typed = claimTypedData({ chainId: 31337, rows })
  const signature = await own.signTypedData(typed as never)
  return managerCall(receiver, {
    type: 'claim',
    claims: calls.map((call) => rowOf(call, price)),
    claimAuthorizerSignature: signature,
  })
}

test('the signature of a claim that the server signed is checked, and a channel that fails is left out', async () => {
  const account = await fundedAccount(chain, deposit)
  const signing = { max: price, deposit }
  const call = await signCall(account, signedAt, signing)
  expect(await ask('settle', call)).toMatchObject({ success: true })
  const empty = await fundedAccount(chain, deposit)
  const { id } = await signCall(empty, signedAt, signing)
  const claim = await signedClaim([account, empty])
  const { result, sent } = await counting(() => ask('settle', claim))
  expect(result.errorReason).toBe(`${prefix}claim_simulation_failed`)
  // The receiver's own wallet sends here: it needs no signature of all rows.
  expect(result.errorMessage).toBe(`Not claimed: ${id}.`)
  expect(sent).toBe(1)
  const other = { ...Object(claim.paymentPayload.payload) }
  const [first] = other.claims
  const part = managerCall(receiver, { ...other, claims: [first] })
  expect(await ask('settle', part)).toMatchObject({
    errorReason: `${prefix}authorizer_address_mismatch`,
  })
  const whole = await signedClaim([account])
  expect(await ask('settle', whole)).toMatchObject({ success: true })
  expect(await onChain(call.id)).toMatchObject({ claimed: price })
})

test('a channel that was left out of a claim is claimed by the same call, once its balance is enough', async () => {
  const short = await openedChannel()
  const { account, id } = short
  const kept = await openedChannel()
  const max = deposit + price
  const over = rowOf(await signCall(account, at, { max }), max)
  const good = rowOf(await signCall(kept.account, at, { max: price }), price)
  const claims = [over, good]
  const call = managerCall(receiver, { type: 'claim', claims })
  const first = await ask('settle', call)
  const refused = {
    errorReason: `${prefix}claim_simulation_failed`,
    errorMessage: `Not claimed: ${id}.`,
  }
  expect(first).toMatchObject(refused)
  expect(first.transaction).toMatch(/^0x/)
  const again = await counting(() => ask('settle', call))
  expect(again).toMatchObject({ result: first, sent: 0 })
  const topUp = await signCall(account, at, { max, deposit })
  expect(await ask('settle', topUp)).toMatchObject({ success: true })
  const { result, sent } = await counting(async () => [
    await ask('settle', call),
    await ask('settle', call),
  ])
  expect(result).toMatchObject([{ success: true }, { success: true }])
  expect(sent).toBe(1)
  expect(await onChain(id)).toMatchObject({ claimed: max })
})

// Last: it moves the chain's clock.
test('a channel that cannot be claimed is left out of the claim, and named', async () => {
  const gone = await openedChannel()
  const kept = await openedChannel()
  const { account, config } = gone
  const withdraw = initiateWithdrawCall({ config, value: deposit })
  await sendTransaction(chain.clients.relayer, { account, ...withdraw })
  await increaseTime(chain.clients.test, { seconds: 901 })
  const finalize = finalizeWithdrawCall({ config })
  await sendTransaction(chain.clients.relayer, { account, ...finalize })
  const claim = await claimOf([account, kept.account], price)
  const answer = await ask('settle', claim)
  expect(answer).toMatchObject({
    success: false,
    errorReason: `${prefix}claim_simulation_failed`,
    errorMessage: `Not claimed: ${gone.id}.`,
  })
  expect(await onChain(kept.id)).toMatchObject({ claimed: price })
})
