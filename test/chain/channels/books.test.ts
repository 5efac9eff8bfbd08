import { type LedgerRow, toHledger } from 'countersign/orders'
import { formatUnits, type Hash } from 'viem'
import { getTransactionReceipt } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { type Channel, chain, claimRow, send } from '../support/channelDesk.js'
import { newAccount } from '../support/desk.js'
import { judgeJournal } from '../support/hledger.js'
import {
  charge,
  open,
  openDeposited,
  until,
  value,
} from '../support/keepingDesk.js'
import { sendDeposit, signDeposit } from '../support/movementDesk.js'

afterAll(() => chain.stop())

async function gasOf(hash: Hash): Promise<bigint> {
  const { gasUsed, effectiveGasPrice } = await getTransactionReceipt(
    chain.clients.public,
    { hash },
  )
  return gasUsed * effectiveGasPrice
}

async function* rowsIn(rows: readonly LedgerRow[]): AsyncGenerator<LedgerRow> {
  yield* rows
}

test('the books have a line for each deposit, claim and refund, and hledger agrees', async () => {
  const opened = await open()
  const { channels, shop } = opened
  const one = await openDeposited(opened)
  const other = await openDeposited(opened)
  await charge(opened, one, 4_000n)
  await charge(opened, other, 1_500n)
  await channels.claim()
  await channels.refund({ channelId: one.id })
  const rows: LedgerRow[] = []
  for await (const row of shop.orders.ledger({ transfers: true }))
    rows.push(row)
  const claimId = expect.stringMatching(/^claim\+[\da-f]{16}$/)
  expect(rows).toMatchObject([
    { type: 'opening', balance: 0n },
    { type: 'gas', movementId: expect.stringContaining(`${one.id}+`) },
    { type: 'gas', movementId: expect.stringContaining(`${other.id}+`) },
    { type: 'claim', gross: 5_500n, movementId: claimId },
    { type: 'gas', movementId: claimId },
    { type: 'gas', movementId: `${one.id}-0` },
    { type: 'closing', balance: 5_500n },
  ])
  for (const { type, fee, transactionHash } of rows)
    if (type === 'gas') expect(fee).toBe(await gasOf(transactionHash ?? '0x'))
  expect(rows.every(({ orderId }) => orderId === undefined)).toBe(true)
  let journal = ''
  for await (const text of toHledger(rowsIn(rows))) journal += text
  const { read, judged = read } = await judgeJournal(journal)
  expect(judged).toEqual(read)
  const gas = rows.reduce((sum, { fee }) => sum + fee, 0n)
  const balances = Object.entries(read)
  const endOf = (kind: string) =>
    balances.find(([account]) => account.startsWith(kind))?.[1]
  expect(endOf('income:channels:')).toBe('-0.0055')
  expect(endOf('expenses:gas:')).toBe(formatUnits(gas, 18))
  expect(
    balances.some(([account]) => account.startsWith('equity:transfers')),
  ).toBe(false)
})

test('the statement of a channel adds up, and the shares of a claim add up to its gas', async () => {
  const opened = await open()
  const { channels } = opened
  const opening: Channel[] = []
  for (let at = 0; at < 3; at++) opening.push(await openDeposited(opened))
  const [one, other, third] = opening
  if (!one || !other || !third) throw new Error('no channel')
  await charge(opened, one, 4_000n)
  await charge(opened, other, 1_500n)
  await charge(opened, third, 7n)
  await channels.claim()
  await charge(opened, one, 20n)
  await channels.refund({ channelId: one.id, value: 1_000_000n })
  await charge(opened, one, 5n)
  const statement = await channels.statement({ channelId: one.id })
  expect(statement).toMatchObject({
    lines: [
      { action: 'deposit', value },
      { action: 'claim', value: 4_000n },
      { action: 'claim', value: 20n },
      { action: 'refund', value: 1_000_000n, movementId: `${one.id}-0` },
    ],
    sums: { deposited: value, claimed: 4_020n, refunded: 1_000_000n },
    elsewhere: { deposited: 0n, claimed: 0n },
    end: {
      balance: value - 1_000_000n,
      charged: 4_025n,
      claimed: 4_020n,
      unclaimed: 5n,
    },
  })
  const [deposit, claim, second] = statement.lines
  expect(deposit?.gas).toBe(await gasOf(deposit?.transactionHash ?? '0x'))
  expect(second?.gas).toBe(await gasOf(second?.transactionHash ?? '0x'))
  const shares = await Promise.all(
    opening.map(async ({ id: channelId }) => {
      const { lines } = await channels.statement({ channelId })
      const line = lines.find(({ action }) => action === 'claim')
      expect(line?.transactionHash).toBe(claim?.transactionHash)
      return line?.gas ?? 0n
    }),
  )
  expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(
    await gasOf(claim?.transactionHash ?? '0x'),
  )
})

test('a statement names what others moved, and leaves out a claim that left the channel out', async () => {
  const opened = await open()
  const { channels, shop } = opened
  const one = await openDeposited(opened)
  const other = await openDeposited(opened)
  await charge(opened, one, 3_000n)
  await charge(opened, other, 1_000n)
  const broken = await openDeposited(opened)
  await charge(opened, { ...broken, payer: newAccount() }, 50n)
  // Claimed by somebody else, before the merchant does.
  const row = await claimRow(one, 3_000n)
  await send({ functionName: 'claim', args: [[row]], from: shop.receiver })
  await sendDeposit(one, await signDeposit(one, 500n))
  await channels.claim({ channelIds: [one.id, other.id, broken.id] })
  await until(
    async () =>
      (await channels.get({ channelId: one.id })).balance === value + 500n,
  )
  expect(await channels.statement({ channelId: one.id })).toMatchObject({
    lines: [{ action: 'deposit' }],
    elsewhere: { deposited: 500n, claimed: 3_000n },
    end: { balance: value + 500n, claimed: 3_000n, unclaimed: 0n },
  })
  expect(await channels.statement({ channelId: other.id })).toMatchObject({
    lines: [{ action: 'deposit' }, { action: 'claim', value: 1_000n }],
    elsewhere: { deposited: 0n, claimed: 0n },
  })
  expect(await channels.statement({ channelId: broken.id })).toMatchObject({
    lines: [{ action: 'deposit' }],
    end: { charged: 50n, claimed: 0n, unclaimed: 50n },
  })
})

test('a statement of more movements than fit in one note has them all', async () => {
  const opened = await open()
  const { channels } = opened
  const { id: channelId, ...channel } = await openDeposited(opened)
  for (let at = 0; at < 21; at++) {
    await charge(opened, { id: channelId, ...channel }, 10n)
    await channels.claim()
  }
  const { lines, sums, elsewhere } = await channels.statement({ channelId })
  expect(lines).toHaveLength(22)
  expect(new Set(lines.map(({ movementId }) => movementId)).size).toBe(22)
  expect(sums.claimed).toBe(210n)
  expect(elsewhere).toEqual({ deposited: 0n, claimed: 0n })
})
