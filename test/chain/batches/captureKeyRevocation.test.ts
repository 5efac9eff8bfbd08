import {
  createCaptureKey,
  delegateSubmitter,
  revokeCaptureKey,
  undelegateSubmitter,
} from 'countersign/batches'
import type { Address, Hex } from 'viem'
import { getTransaction } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  chain,
  nodeThat,
  openAccount,
  reader,
  relayer,
} from '../support/batchDesk.js'
import {
  contextIn,
  disable,
  openTreasury,
  redeem,
  statusOf,
  tryCall,
} from '../support/captureKeyDesk.js'

const getsNonce = '0x2bd4ed21'

/** A treasury that has ended all permissions once, and a new one. */
async function openSecond() {
  const { treasury, wallet, grant } = await openTreasury()
  await revokeCaptureKey(wallet, { permission: 'all' })
  const { permission } = await grant()
  return { treasury, permission }
}

test.each([
  ['answers nothing', '0x'],
  ['is behind', `0x${'0'.repeat(64)}`],
])('a permission is revoked also if the node %s', async (_name, answer) => {
  const { treasury, permission } = await openSecond()
  const client = nodeThat(treasury, async (method, [call]) =>
    method === 'eth_call' && String(Object(call).data).startsWith(getsNonce)
      ? { answer }
      : undefined,
  )
  await revokeCaptureKey(client, { permission })
  expect(await statusOf(permission)).toBe('revoked')
})

test('a revocation is looked for in its own block', async () => {
  const { treasury, permission } = await openTreasury()
  const before = await reader.getBlockNumber()
  const old: Hex = `0x${before.toString(16)}`
  const client = nodeThat(treasury, async (method, [call, block]) => {
    if (method !== 'eth_call' || block !== 'latest') return undefined
    const params = [call, old] as never
    return { answer: await reader.request({ method, params }) }
  })
  await revokeCaptureKey(client, { permission })
  expect(await statusOf(permission)).toBe('revoked')
})

test.each(['revokeCaptureKey', 'undelegateSubmitter'])(
  '%s takes the address of the treasury as the sponsor',
  async (name) => {
    const { treasury, permission, wallet } = await openTreasury()
    const sponsor = treasury.address.toLowerCase() as Address
    if (name === 'revokeCaptureKey')
      await revokeCaptureKey(wallet, { permission, sponsor })
    else await undelegateSubmitter(wallet, { sponsor })
    expect(await statusOf(permission)).not.toBe('active')
  },
)

test('an undelegation whose call reverts says how to end the permissions', async () => {
  const { permission, wallet } = await openTreasury()
  const failed = await undelegateSubmitter(wallet, { gas: 66_000n }).catch(
    (error: unknown) => error,
  )
  expect(failed).toMatchObject({
    name: 'CaptureKeyError',
    reason: 'notRevoked',
    retryable: false,
    message: expect.stringContaining('call revokeCaptureKey'),
  })
  const { account: sponsor } = relayer
  await expect(
    revokeCaptureKey(wallet, { permission, sponsor }),
  ).rejects.toMatchObject({ name: 'CaptureKeyError', reason: 'undelegated' })
  await revokeCaptureKey(wallet, { permission: 'all' })
  await delegateSubmitter(wallet)
  expect(await statusOf(permission)).toBe('revoked')
})

test('what a sponsor may call ends the one permission, and no other', async () => {
  const { permission, wallet, grant } = await openTreasury()
  const { permission: other } = await grant()
  const sponsor = await openAccount()
  const { transactionHash: hash = '0x' } = await revokeCaptureKey(wallet, {
    permission,
    sponsor,
  })
  const { input } = await getTransaction(reader, { hash })
  const { status } = await tryCall(
    sponsor,
    redeem(contextIn(input), disable(other)),
  )
  expect(status).toBe('reverted')
  expect(await statusOf(permission)).toBe('revoked')
  expect(await statusOf(other)).toBe('active')
})

test('a sponsor gets no signature where the contract that limits its call has other code', async () => {
  const { permission, treasury } = await openTreasury()
  const exact: Address = '0x99f2e9bf15ce5ec84685604836f71ab835dbbded'
  const client = nodeThat(treasury, async (method, [address]) =>
    method === 'eth_getCode' && address === exact
      ? { answer: '0x00' }
      : undefined,
  )
  const { account: sponsor } = relayer
  await expect(
    revokeCaptureKey(client, { permission, sponsor }),
  ).rejects.toMatchObject({ name: 'CaptureKeyError', reason: 'unproven' })
})

test('no permission is signed with a number that the node did not answer', async () => {
  const { treasury, key } = await openTreasury()
  const client = nodeThat(treasury, async (method, [call]) =>
    method === 'eth_call' && String(Object(call).data).startsWith(getsNonce)
      ? { answer: '0x' }
      : undefined,
  )
  const tokens = [chain.token]
  await expect(
    createCaptureKey(client, { key: key.address, tokens }),
  ).rejects.toMatchObject({ name: 'CaptureKeyError', reason: 'unproven' })
})
