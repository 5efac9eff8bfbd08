import type { AuditReport, Orders } from 'countersign/orders'
import { expect, test } from 'vitest'
import { handlerOf, serveTo } from '../support/clientServer.js'
import { order } from '../support/httpStub.js'

const { chainId, token, recipient } = order
const destination = { chainId, token, recipient }
const nothing = { count: 0, value: 0n }

/** A report that found one payment of 5 units in each block. */
function reportOf({
  fromBlock = 0n,
  toBlock = 0n,
}: NonNullable<Parameters<Orders['audit']>[0]>) {
  const count = Number(toBlock - fromBlock) + 1
  const sum = { count, value: BigInt(count) * 5n }
  const part = {
    destination,
    fromBlock,
    toBlock,
    chain: sum,
    captured: sum,
    unmatched: nothing,
    refunded: nothing,
    differences: [],
  }
  return { ok: true, destinations: [part] } satisfies AuditReport
}

test('an audit asks for ranges that grow, tells where it is, and adds them up', async () => {
  const ranges: (bigint | undefined)[][] = []
  const { merchant } = await serveTo(
    handlerOf({
      health: async () =>
        ({ chains: [{ chainId: 1, block: 80n }], submitters: [] }) as never,
      audit: async (range = {}) => {
        ranges.push([range.fromBlock, range.toBlock])
        return reportOf(range)
      },
    }),
  )
  const told: bigint[] = []
  const report = await merchant.audit({
    fromBlock: 11n,
    blocks: 10n,
    onProgress: ({ fromBlock, toBlock, lastBlock }) =>
      told.push(fromBlock, toBlock, lastBlock),
  })
  expect(ranges).toEqual([
    [11n, 20n],
    [21n, 40n],
    [41n, 80n],
  ])
  expect(told).toEqual([11n, 20n, 80n, 11n, 40n, 80n, 11n, 80n, 80n])
  expect(report).toEqual({
    ok: true,
    destinations: [
      {
        ...reportOf({ fromBlock: 11n, toBlock: 80n }).destinations[0],
        fromBlock: '11',
        toBlock: '80',
        chain: { count: 70, value: '350' },
        captured: { count: 70, value: '350' },
        unmatched: { count: 0, value: '0' },
        refunded: { count: 0, value: '0' },
      },
    ],
  })
})

test('an audit takes narrower ranges when the server runs out of time', async () => {
  const asked: string[] = []
  const { merchant, failures } = await serveTo((request) => {
    const query = new URL(request.url).searchParams
    const range = ['fromBlock', 'toBlock'].map((name) => query.get(name))
    asked.push(range.join('-'))
    const [from = 0, to = 0] = range.map(Number)
    if (to - from < 3) return Response.json({ ok: true, destinations: [] })
    const headers = { 'retry-after': '1' }
    return Response.json({ reason: 'timeout' }, { status: 503, headers })
  })
  await merchant.audit({ fromBlock: 1n, toBlock: 6n, blocks: 8n })
  expect(asked).toEqual(['1-6', '1-4', '1-2', '3-4', '5-6'])
  expect(failures).toEqual([])
})

test('one difference in any range is one of the whole audit', async () => {
  const { merchant } = await serveTo(
    handlerOf({
      audit: async (range = {}) => {
        const report = reportOf(range)
        const difference = {
          transactionHash: order.nonce,
          logIndex: 0,
          blockNumber: 3n,
          orderId: undefined,
          onChain: 5n,
          onRecord: undefined,
        }
        if (range.fromBlock !== 1n) return report
        const [part] = report.destinations
        return {
          ok: false,
          destinations: part ? [{ ...part, differences: [difference] }] : [],
        }
      },
    }),
  )
  const report = await merchant.audit({
    fromBlock: 1n,
    toBlock: 9n,
    blocks: 4n,
  })
  expect(report.ok).toBe(false)
  expect(report.destinations[0]?.differences).toHaveLength(1)
})
