import { startDevChain } from 'countersign/devchain'
import { findCharges, markOf, periodAt } from 'countersign/subscriptions'
import type { Address, Hex } from 'viem'
import {
  getTransactionReceipt,
  increaseTime,
  mine,
  sendTransaction,
} from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  approveCall,
  type ManagerCall,
  revokeCall,
  spendCall,
} from '../../../../src/subscriptions/permission/spendCalls.js'
import { send } from '../../support/baseAccount.js'
import {
  createSubscriber,
  type Subscriber,
  type SubscriberFields,
} from '../../support/permissionDesk.js'

// Blocks are mined on request, so that transactions can wait for theirs.
const chain = await startDevChain({
  blockTime: 3600,
  token: 'usdc',
  spendPermissions: true,
})
afterAll(() => chain.stop())
const { public: reader, merchant, relayer, test: controls } = chain.clients
const spender = merchant.account.address.toLowerCase() as Address

async function subscribe(fields?: SubscriberFields): Promise<Subscriber> {
  const subscriber = await createSubscriber(chain, spender, fields)
  const approval = approveCall(subscriber)
  await send(chain, { account: relayer.account, ...approval })
  return subscriber
}

const find = ({ permission }: Subscriber) =>
  findCharges(reader, { permission, fromBlock: 0n })

const charge = (
  { permission }: Subscriber,
  chargeId: string,
  value = 10_000_000n,
) =>
  send(chain, {
    account: merchant.account,
    ...spendCall(permission, { value, chargeId }),
  })

/** Sends a transaction that waits for a block. */
const sendWaiting = (call: ManagerCall, account = merchant.account) =>
  sendTransaction(merchant, { ...call, account, gas: 1_000_000n })

const periodOf = async ({ permission }: Subscriber) => {
  const { timestamp } = await reader.getBlock()
  return periodAt(permission, timestamp)
}

test('without any record, a charge is found by its mark, with its period and its proof', async () => {
  const subscriber = await subscribe()
  const period = await periodOf(subscriber)
  const receipt = await charge(subscriber, 'may')
  expect(await find(subscriber)).toEqual([
    {
      mark: markOf('may'),
      value: 10_000_000n,
      periodStart: period?.start,
      periodEnd: period?.end,
      logIndex: receipt.logs.at(-1)?.logIndex,
      transactionHash: receipt.transactionHash,
      blockHash: receipt.blockHash,
      blockNumber: receipt.blockNumber,
    },
  ])
})

test('the same charge sent again in a period is refused by the chain when the allowance is the price', async () => {
  const subscriber = await subscribe()
  await charge(subscriber, 'may')
  const again = await charge(subscriber, 'may')
  expect(again.status).toBe('reverted')
  expect(await find(subscriber)).toHaveLength(1)
})

test('within a larger allowance the chain takes the same charge twice, and both are found', async () => {
  const subscriber = await subscribe()
  await charge(subscriber, 'may', 4_000_000n)
  await charge(subscriber, 'may', 4_000_000n)
  const marks = (await find(subscriber)).map(({ mark }) => mark)
  expect(marks).toEqual([markOf('may'), markOf('may')])
})

test('a charge mined after the end of its period uses the allowance of the next one', async () => {
  const subscriber = await subscribe()
  const before = await periodOf(subscriber)
  const call = spendCall(subscriber.permission, {
    value: 10_000_000n,
    chargeId: 'late',
  })
  await sendWaiting(call)
  await increaseTime(controls, { seconds: 1000 })
  await mine(controls, { blocks: 1 })
  const [found] = await find(subscriber)
  expect(found?.mark).toBe(markOf('late'))
  expect(found?.periodStart).toBe(before?.end)
  const next = await charge(subscriber, 'next')
  expect(next.status).toBe('reverted')
})

test('a revocation mined before a charge leaves no charge', async () => {
  const subscriber = await subscribe()
  const call = spendCall(subscriber.permission, {
    value: 10_000_000n,
    chargeId: 'raced',
  })
  await sendWaiting(revokeCall(subscriber.permission))
  const hash = await sendWaiting(call)
  await mine(controls, { blocks: 1 })
  const { status } = await getTransactionReceipt(reader, { hash })
  expect([status, await find(subscriber)]).toEqual(['reverted', []])
})

test('a charge without the funds leaves no charge, and its period stays unused', async () => {
  const subscriber = await subscribe({ funds: 5_000_000n })
  const receipt = await charge(subscriber, 'poor')
  expect([receipt.status, await find(subscriber)]).toEqual(['reverted', []])
  await chain.mint({ to: subscriber.account.address, value: 5_000_000n })
  const again = await charge(subscriber, 'poor')
  expect(again.status).toBe('success')
})

test('a spend that this library did not send has no mark', async () => {
  const subscriber = await subscribe()
  const { to, data } = spendCall(subscriber.permission, {
    value: 1_000_000n,
    chargeId: '',
  })
  const plain: Hex = `0x${data.slice(2, -64)}`
  await send(chain, { account: merchant.account, to, data: plain })
  await send(chain, { account: merchant.account, to, data: `${data}00` })
  const marks = (await find(subscriber)).map(({ mark }) => mark)
  expect(marks).toEqual([undefined, undefined])
})

test('charges of another permission of the same wallet are not found', async () => {
  const subscriber = await subscribe()
  await charge(subscriber, 'may')
  const { message } = subscriber.permission
  const permission = {
    ...subscriber.permission,
    message: { ...message, salt: message.salt + 1n },
  }
  expect(await findCharges(reader, { permission, fromBlock: 0n })).toEqual([])
})

test('a charge that a reorganization removed is no longer found', async () => {
  const subscriber = await subscribe()
  await charge(subscriber, 'may')
  await chain.reorg({ depth: 1, transactions: 'dropped' })
  expect(await find(subscriber)).toEqual([])
})
