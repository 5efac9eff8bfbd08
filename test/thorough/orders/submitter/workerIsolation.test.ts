import { startDevChain } from 'countersign/devchain'
import type { Account } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { fakeNode, fundedAccount } from '../../../chain/support/desk.js'
import { openMany } from '../../../chain/support/manyRecipients.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

/** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

const pause = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

const fund = (count: number) =>
  Promise.all(Array.from({ length: count }, () => fundedAccount(chain)))

/** An account whose signer does not answer before it is let go on. */
function hangingSigner(account: Awaited<ReturnType<typeof fundedAccount>>) {
  let asked = 0
  const hanging: Account = {
    ...account,
    signTransaction: () => {
      asked++
      return new Promise<never>(() => undefined)
    },
  }
  return { account: hanging, asked: () => asked }
}

test('many recipients on a slow node starve no submitter, however short its lease is', async () => {
  const accounts = await fund(12)
  const reader = fakeNode(chain, async (_, forward) => {
    await pause(30)
    return forward()
  })
  const wallets = accounts.map((account) => fakeNode(chain, undefined, account))
  const policy = { lease: 500 }
  const many = openMany(chain, { reader, wallets, policy })
  const ids = await Promise.all(accounts.map((one) => many.addDue(one)))
  const states = () => Promise.all(ids.map(many.stateOf))
  await many.runDuring(
    () => expect.poll(states, patience).toEqual(ids.map(() => 'captured')),
    { concurrency: 2 },
  )
  const sent = wallets.flatMap(({ methods }) => methods())
  expect(sent).toHaveLength(ids.length)
  // Each look at a submitter asks for the account's funds once.
  const looks = reader.methods().filter((method) => method === 'eth_getBalance')
  expect(looks.length).toBeLessThan(20 * ids.length)
})

test('a destination whose first look hangs keeps no other from its captures', async () => {
  const [one, other] = await fund(2)
  if (!one || !other) throw new Error('no account')
  const hanging = other.address.slice(2).toLowerCase()
  const reader = fakeNode(chain, ({ method, params }, forward) => {
    const isHanging =
      method === 'eth_getLogs' &&
      JSON.stringify(params).toLowerCase().includes(hanging)
    return isHanging ? new Promise(() => undefined) : forward()
  })
  const wallets = [one, other].map((account) =>
    fakeNode(chain, undefined, account),
  )
  const many = openMany(chain, { reader, wallets })
  const ids = await Promise.all([one, other].map((each) => many.addDue(each)))
  const states = () => Promise.all(ids.map(many.stateOf))
  await many.runDuring(async () => {
    await expect
      .poll(states, patience)
      .toEqual(expect.arrayContaining(['captured']))
    // Its own orders wait for it, but not for ever.
    await expect.poll(states, patience).toEqual(['captured', 'captured'])
  })
})

test('hung signers stop neither the watch of their chain nor other wallets', async () => {
  const [good, ...others] = await fund(5)
  if (!good) throw new Error('no account')
  const hung = others.map(hangingSigner)
  const reader = fakeNode(chain)
  const wallets = [...hung.map(({ account }) => account), good].map((account) =>
    fakeNode(chain, undefined, account),
  )
  const many = openMany(chain, { reader, wallets })
  for (const { account } of hung) await many.addDue(account)
  const looks = () =>
    reader.methods().filter((method) => method === 'eth_getLogs').length
  await many.runDuring(async () => {
    const asked = () => hung.filter((signer) => signer.asked() > 0).length
    await expect.poll(asked, patience).toBe(4)
    const before = looks()
    await expect.poll(looks, patience).toBeGreaterThan(before + 3)
    const id = await many.addDue(good)
    await expect.poll(() => many.stateOf(id), patience).toBe('captured')
  })
})
