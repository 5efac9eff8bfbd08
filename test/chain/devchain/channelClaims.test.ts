import { deployDevContract, devContracts } from 'countersign/devchain'
import { zeroAddress } from 'viem'
import { afterAll, expect, test } from 'vitest'
import {
  type ClaimRow,
  chain,
  claimRow,
  depositCall,
  encodeCall,
  newChannel,
  openChannel,
  refusal,
  send,
  signClaims,
  signVoucher,
  view,
} from '../support/channelDesk.js'
import { newAccount } from '../support/desk.js'
import { reformSignature } from '../support/reformSignature.js'

afterAll(() => chain.stop())

const million = 1_000_000n

const claim = (
  rows: readonly ClaimRow[],
  from = chain.clients.relayer.account,
) => ({
  functionName: 'claim',
  args: [rows],
  from,
})

test('the receiver and its authorizer may claim, nobody else', async () => {
  const channel = await openChannel()
  const { id, payer, receiver, authorizer } = channel
  const row = await claimRow(channel, 3n * million, { ceiling: 4n * million })
  expect(await refusal(claim([row]))).toBe('NotAuthorizedToClaim')
  expect(await refusal(claim([row], payer))).toBe('NotAuthorizedToClaim')
  expect(await refusal(claim([row], authorizer))).toBe('no error')
  const { events } = await send(claim([row], receiver))
  expect(events).toEqual([
    {
      eventName: 'Claimed',
      args: {
        channelId: id,
        sender: receiver.address,
        claimAmount: 3n * million,
        newTotalClaimed: 3n * million,
      },
    },
  ])
  expect(await view('channels', [id])).toEqual([10n * million, 3n * million])
})

test('a claim is cumulative; what is claimed already does nothing, even unsigned', async () => {
  const channel = await openChannel()
  const { receiver, id } = channel
  await send(claim([await claimRow(channel, 3n * million)], receiver))
  const lower = await claimRow(channel, 3n * million, { signature: '0x' })
  const again = await send(claim([lower], receiver))
  expect([again.status, again.events]).toEqual(['success', []])
  const higher = await send(
    claim([await claimRow(channel, 5n * million)], receiver),
  )
  expect(higher.events).toMatchObject([
    { args: { claimAmount: 2n * million, newTotalClaimed: 5n * million } },
  ])
  expect(await view('channels', [id])).toEqual([10n * million, 5n * million])
})

test('no claim exceeds the ceiling or the balance', async () => {
  const channel = await openChannel()
  const refusalOf = async (total: bigint, ceiling: bigint) =>
    refusal(
      claim([await claimRow(channel, total, { ceiling })], channel.receiver),
    )
  expect(await refusalOf(2n, 1n)).toBe('ClaimExceedsCeiling')
  expect(await refusalOf(10n * million + 1n, 20n * million)).toBe(
    'ClaimExceedsBalance',
  )
  expect(await refusalOf(10n * million, 20n * million)).toBe('no error')
  expect(await refusal(claim([], channel.receiver))).toBe('EmptyBatch')
})

test.each([
  ['v of 0 or 1', 'ECDSAInvalidSignature', 'InvalidSignature'],
  ['high s', 'ECDSAInvalidSignatureS', 'InvalidSignature'],
  ['64 bytes', 'ECDSAInvalidSignatureLength', 'InvalidSignature'],
] as const)(
  'a voucher with %s is refused: %s with an authorizer, else %s',
  async (form, byKey, byAccount) => {
    const own = await openChannel()
    const none = await openChannel({ payerAuthorizer: zeroAddress })
    for (const [channel, expected] of [
      [own, byKey],
      [none, byAccount],
    ] as const) {
      const signature = reformSignature(
        await signVoucher(channel, million),
        form,
      )
      const row = await claimRow(channel, million, { signature })
      expect(await refusal(claim([row], channel.receiver))).toBe(expected)
      const sound = await claimRow(channel, million)
      expect(await refusal(claim([sound], channel.receiver))).toBe('no error')
    }
  },
)

test('a voucher of another signer, ceiling or channel is refused', async () => {
  const channel = await openChannel()
  const other = await openChannel({}, { payer: channel.payer })
  const key = newAccount()
  for (const signature of [
    await signVoucher(channel, million, key),
    await signVoucher(channel, million + 1n),
    await signVoucher(other, million),
  ]) {
    const row = await claimRow(channel, million, { signature })
    expect(await refusal(claim([row], channel.receiver))).toBe(
      'InvalidSignature',
    )
  }
})

test('with a payer authorizer only its key signs vouchers', async () => {
  const key = newAccount()
  const channel = await openChannel({ payerAuthorizer: key.address })
  const { receiver, payer } = channel
  const refusalOf = async (signer: typeof key) => {
    const signature = await signVoucher(channel, million, signer)
    return refusal(
      claim([await claimRow(channel, million, { signature })], receiver),
    )
  }
  expect(await refusalOf(payer)).toBe('InvalidSignature')
  expect(await refusalOf(key)).toBe('no error')
})

test('without an authorizer a contract may be the payer and say what is signed', async () => {
  const owner = newAccount()
  const wallet = await deployDevContract(chain, {
    contract: devContracts.strictWallet,
    args: [owner.address],
  })
  await chain.mint({ to: wallet, value: 10n * million })
  const channel = await newChannel(
    { payer: wallet, payerAuthorizer: zeroAddress },
    { payer: owner },
  )
  await send(await depositCall(channel, 10n * million))
  const row = await claimRow(channel, million)
  const bad = await claimRow(channel, million, {
    signature: await signVoucher(channel, million, newAccount()),
  })
  expect(await refusal(claim([bad], channel.receiver))).toBe('InvalidSignature')
  expect(await refusal(claim([row], channel.receiver))).toBe('no error')
})

test('a batch with one bad row reverts whole', async () => {
  const first = await openChannel()
  const { receiver } = first
  const second = await openChannel({}, { receiver })
  const good = await claimRow(first, million)
  const high = await claimRow(second, 11n * million)
  const forged = await claimRow(second, million, {
    signature: await signVoucher(second, million, newAccount()),
  })
  expect(await refusal(claim([good, high], receiver))).toBe(
    'ClaimExceedsBalance',
  )
  expect(await refusal(claim([good, forged], receiver))).toBe(
    'InvalidSignature',
  )
  const { config } = second
  const foreign = {
    ...forged,
    voucher: {
      channel: { ...config, receiver: zeroAddress },
      maxClaimableAmount: 1n,
    },
  }
  expect(await refusal(claim([good, foreign], receiver))).toBe(
    'NotAuthorizedToClaim',
  )
  expect(await view('channels', [first.id])).toEqual([10n * million, 0n])
})

test('anybody may send a batch that the authorizer signed', async () => {
  const first = await openChannel()
  const { authorizer, receiver } = first
  const second = await openChannel({}, { authorizer })
  const rows = [
    await claimRow(first, million),
    await claimRow(second, 2n * million),
  ]
  const signed = (signature: string, given = rows) => ({
    functionName: 'claimWithSignature',
    args: [given, signature],
  })
  const signature = await signClaims(authorizer, rows)
  expect(await view('getClaimBatchDigest', [rows])).toMatch(/^0x\w{64}$/)
  expect(await refusal(signed(await signClaims(receiver, rows)))).toBe(
    'InvalidSignature',
  )
  expect(await refusal(signed(signature, rows.slice(1)))).toBe(
    'InvalidSignature',
  )
  expect(await refusal(signed(reformSignature(signature, 'high s')))).toBe(
    'InvalidSignature',
  )
  expect(await refusal(signed(signature, []))).toBe('EmptyBatch')
  const { events } = await send(signed(signature))
  expect(events.map(({ args }) => args)).toMatchObject([
    { channelId: first.id, claimAmount: million },
    { channelId: second.id, claimAmount: 2n * million },
  ])
})

test('rows of two authorizers in one signed batch are refused', async () => {
  const first = await openChannel()
  const second = await openChannel()
  const rows = [await claimRow(first, million), await claimRow(second, million)]
  const signature = await signClaims(first.authorizer, rows)
  expect(
    await refusal({
      functionName: 'claimWithSignature',
      args: [rows, signature],
    }),
  ).toBe('NotReceiverAuthorizer')
})

test('multicall claims and settles in one transaction, or does nothing', async () => {
  const channel = await openChannel()
  const { receiver, config } = channel
  const row = await claimRow(channel, 7n * million)
  const settle = {
    functionName: 'settle',
    args: [receiver.address, config.token],
  }
  const both = (rows: ClaimRow[]) => ({
    functionName: 'multicall',
    args: [[encodeCall(claim(rows)), encodeCall(settle)]],
    from: receiver,
  })
  const high = await claimRow(channel, 11n * million)
  expect(await refusal(both([high]))).toBe('ClaimExceedsBalance')
  expect(await refusal({ ...both([row]), from: channel.payer })).toBe(
    'NotAuthorizedToClaim',
  )
  const { events } = await send(both([row]))
  expect(events.map(({ eventName }) => eventName)).toEqual([
    'Claimed',
    'Settled',
  ])
  expect(await view('receivers', settle.args)).toEqual([
    7n * million,
    7n * million,
  ])
})
