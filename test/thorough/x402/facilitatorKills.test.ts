import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../chain/support/desk.js'
import { bodyOf, transfersTo } from '../../chain/support/facilitatorShop.js'
import {
  price,
  sign402,
  startFacilitatorChain,
} from '../../chain/support/stockFacilitator.js'
import { bundleWorker } from '../../kills/bundleWorker.js'
import {
  type FacilitatorPlan,
  type SettleAnswer,
  settleBody,
  verifyBody,
} from '../../kills/facilitatorPlan.js'
import { openShop, openStore } from '../../kills/openShop.js'
import type { Engine } from '../../kills/plan.js'
import { startChild } from '../../kills/runChild.js'
import { withEngine } from '../../kills/runKill.js'
import { readLeases } from '../../kills/toldLeases.js'

const [chain, worker] = await Promise.all([
  startFacilitatorChain(),
  bundleWorker('facilitatorWorker'),
])
afterAll(async () => {
  worker.remove()
  await chain.stop()
})

const used = 'invalid_exact_evm_nonce_already_used'

/** A seller and a payer nobody has seen before, and the body of `/settle`. */
async function planSettle(engine: Engine) {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  const payer = await fundedAccount(chain, price)
  const sent = await sign402(chain, payer, address)
  const plan: FacilitatorPlan = {
    engine,
    account: 'local',
    url: chain.urls.http,
    token: chain.token,
    keys: [key],
    // Longer than any case takes: those of a dead process are released.
    policy: { lease: 60_000 },
    body: JSON.stringify(bodyOf(sent)),
  }
  return { plan, seller: address.toLowerCase() as Address }
}

/** The points that a settlement passes from its arrival to its answer. */
async function recordSettle() {
  return withEngine('sqlite', async (engine) => {
    const { plan } = await planSettle(engine)
    const { lines, problem } = await startChild(worker.file, plan).ended
    expect(problem).toBe('')
    const told: { points: string[]; answer: SettleAnswer } = JSON.parse(
      lines.at(-1) ?? '',
    )
    expect(told.answer.success).toBe(true)
    return told.points
  })
}

const points = await recordSettle()
const answers = points.lastIndexOf('write notes#2')

test('the points of a settlement are its reads, writes, requests and signatures', () => {
  expect(points.slice(0, answers + 1)).toEqual(
    expect.arrayContaining([
      'arrive#1',
      'open#1',
      'takeLease x402Settle#1',
      'write accepted attempts drafted orders#1',
      'sign#1',
      'eth_sendRawTransaction#1',
      'write notes#2',
    ]),
  )
  expect(points.at(-1)).toBe('answer#1')
})

const cases = points.flatMap((point, index) =>
  (['before', 'after'] as const).map((when) => ({
    point,
    when,
    // From then on it counts as answered, whether or not anybody heard it. The
    // lease of the account is given back beside it, sooner or later.
    isAnswered: point.startsWith('releaseLease submitter')
      ? undefined
      : index > answers || (index === answers && when === 'after'),
  })),
)

test.each(cases)(
  'killed $when $point, the identical body settles in one transfer, with its hash',
  async ({ point, when, isAnswered }) => {
    await withEngine('sqlite', async (engine) => {
      const { plan, seller } = await planSettle(engine)
      const { signal, lines } = await startChild(worker.file, {
        ...plan,
        kill: { point, when },
      }).ended
      expect({ signal, last: lines.at(-1) }).toEqual({
        signal: 'SIGKILL',
        last: `${when} ${point}`,
      })
      await endLeases(engine, lines)

      const shop = openShop(plan)
      const { isValid } = await verifyBody(shop.orders, plan.body)
      if (isAnswered !== undefined) expect(isValid).toBe(!isAnswered)
      const answer = await settleBody(shop.orders, plan.body)
      const hash = await onlyTransfer(seller)
      expect(answer).toMatchObject(
        isValid
          ? { success: true, transaction: hash }
          : { success: false, errorReason: used, transaction: hash },
      )
      expect(await settleBody(shop.orders, plan.body)).toMatchObject({
        success: false,
        errorReason: used,
        transaction: hash,
      })
      await shop.orders.close()
    })
  },
)

/** Lets the leases of a dead process run out at once. */
async function endLeases(
  engine: Engine,
  lines: readonly string[],
): Promise<void> {
  const store = openStore(engine)
  for (const lease of readLeases(lines)) await store.releaseLease(lease)
  await store.close()
}

async function onlyTransfer(seller: Address): Promise<string | undefined> {
  expect(await transfersTo(chain, seller)).toBe(1)
  const { public: client } = chain.clients
  const logs = await client.getLogs({
    address: chain.token,
    event: {
      type: 'event',
      name: 'Transfer',
      inputs: [
        { name: 'from', type: 'address', indexed: true },
        { name: 'to', type: 'address', indexed: true },
        { name: 'value', type: 'uint256', indexed: false },
      ],
    },
    args: { to: seller },
    fromBlock: 0n,
  })
  return logs[0]?.transactionHash
}
