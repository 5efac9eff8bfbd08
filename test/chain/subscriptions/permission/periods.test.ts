import { startDevChain } from 'countersign/devchain'
import { buildSpendPermission, periodAt } from 'countersign/subscriptions'
import fc from 'fast-check'
import { type Address, decodeFunctionResult, encodeFunctionData } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { spendPermissionManagerArtifact } from '../../../../src/devchain/contracts/SpendPermissionManager.generated.js'
import { toStruct } from '../../../../src/subscriptions/permission/spendPermissionTypedData.js'
import { manager } from '../../support/baseAccount.js'

const chain = await startDevChain({ blockTime: 0, spendPermissions: true })
afterAll(() => chain.stop())
const { public: reader } = chain.clients

const { abi } = spendPermissionManagerArtifact
const account: Address = '0x00000000000000000000000000000000000000b1'
const spender: Address = '0x00000000000000000000000000000000000000b2'
const count = process.env.COUNTERSIGN_FULL ? 10_000 : 500

/** What the manager says at a second, without a mined block. */
async function askPeriod(
  permission: ReturnType<typeof buildSpendPermission>,
  time: bigint,
): Promise<{ start: bigint; end: bigint } | undefined> {
  const data = encodeFunctionData({
    abi,
    functionName: 'getCurrentPeriod',
    args: [toStruct(permission.message)],
  })
  const answer = await reader
    .request({
      method: 'eth_call',
      params: [
        { to: manager, data },
        'latest',
        {},
        { time: `0x${time.toString(16)}` },
      ] as never,
    })
    .catch(() => undefined)
  if (!answer) return undefined
  const { start, end } = decodeFunctionResult({
    abi,
    functionName: 'getCurrentPeriod',
    data: answer,
  })
  return { start: BigInt(start), end: BigInt(end) }
}

/** Starts after the chain does; a long end may overflow the last period. */
const schedules = fc
  .record({
    start: fc.bigInt(2n ** 31n, 2n ** 34n),
    period: fc.oneof(
      fc.bigInt(1n, 100n),
      fc.bigInt(1n, 366n * 86_400n),
      fc.bigInt(10n ** 13n, 2n ** 48n - 1n),
    ),
    length: fc.oneof(fc.bigInt(1n, 1000n), fc.bigInt(1n, 2n ** 36n)),
    share: fc.bigInt(0n, 1000n),
    edge: fc.bigInt(-1n, 1n),
  })
  .map(({ start, period, length, share, edge }) => {
    const end = start + length
    const inside = start + (length * share) / 1000n
    // Half of the times are at the edge of a period.
    const atEdge = start + ((inside - start) / period) * period + edge
    return { start, end, period, time: share % 2n ? inside : atEdge }
  })

test(`to the second, ${count} random schedules have the manager's periods`, async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async ({ start, end, period, time }) => {
      const permission = buildSpendPermission({
        chainId: 31337,
        account,
        spender,
        token: chain.token,
        allowance: '1',
        salt: 1n,
        start,
        end,
        period,
      })
      const found = periodAt(permission, time)
      const expected = await askPeriod(permission, time)
      expect(found && { start: found.start, end: found.end }).toEqual(expected)
      if (found) expect(found.start).toBe(start + (found.number - 1n) * period)
    }),
    {
      numRuns: count,
      ...(process.env.COUNTERSIGN_SEED && {
        seed: Number(process.env.COUNTERSIGN_SEED),
      }),
    },
  )
})
