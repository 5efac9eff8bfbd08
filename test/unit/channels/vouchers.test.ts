import { signVoucher as stockVoucher } from '@x402/evm/batch-settlement/client'
import { loadAccelerator } from 'countersign/accelerate'
import {
  checkVoucher,
  hashChannelConfig,
  hashVoucher,
  normalizeVoucherSignature,
  signVoucher,
  voucherTypedData,
} from 'countersign/channels'
import {
  createWalletClient,
  custom,
  type Hex,
  parseCompactSignature,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from 'viem'
import { expect, test } from 'vitest'
import { authorizer, payer, sampleConfig } from '../support/channelSamples.js'

const chainId = 8453
const channelId = hashChannelConfig({ config: sampleConfig, chainId })
const curveOrder =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Vouchers whose signatures have both values of `v`. */
const vouchers = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n].map((maxClaimable) => ({
  channelId,
  maxClaimable,
}))
const signed = await Promise.all(
  vouchers.map(async (voucher) => ({
    voucher,
    signature: await payer.signTypedData(
      voucherTypedData({ chainId, voucher }),
    ),
  })),
)

const wordOf = (value: bigint) => value.toString(16).padStart(64, '0')

/** All the forms in which libraries accept the same signature. */
function formsOf(signature: Hex): Record<string, Hex> {
  const r = signature.slice(2, 66)
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const isOdd = signature.endsWith('1c')
  const flipped = wordOf(curveOrder - s)
  return {
    itself: signature,
    'upper case': `0x${signature.slice(2).toUpperCase()}`,
    'v 0 or 1': `0x${r}${wordOf(s)}${isOdd ? '01' : '00'}`,
    'EIP-2098': serializeCompactSignature(
      signatureToCompactSignature(parseSignature(signature)),
    ),
    'high s': `0x${r}${flipped}${isOdd ? '1b' : '1c'}`,
    'high s, v 0 or 1': `0x${r}${flipped}${isOdd ? '00' : '01'}`,
  }
}

test('both values of v occur in these vouchers', () => {
  const last = signed.map(({ signature }) => signature.slice(-2))
  expect(new Set(last)).toEqual(new Set(['1b', '1c']))
})

test.each(Object.keys(formsOf(signed[0]?.signature as Hex)))(
  'a signature as %s becomes what the contract takes',
  async (form) => {
    for (const { voucher, signature } of signed) {
      const given = formsOf(signature)[form] as Hex
      expect(normalizeVoucherSignature(given)).toBe(signature)
      const signer = payer.address
      expect(
        await checkVoucher({ chainId, voucher, signature: given, signer }),
      ).toEqual({ ok: true, signature })
    }
  },
)

test('EIP-2098 is what viem reads it as', () => {
  const [{ signature }] = signed as [{ signature: Hex }]
  const { 'EIP-2098': compact } = formsOf(signature)
  expect(parseCompactSignature(compact as Hex).r).toBe(signature.slice(0, 66))
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['0x', '0x'],
  ['63 bytes', `0x${'12'.repeat(63)}`],
  ['66 bytes', `0x${'12'.repeat(65)}1b`],
  ['a contract wallet', `0x${'12'.repeat(130)}`],
  ['a v of 29', `0x${'12'.repeat(64)}1d`],
  ['a v of 2', `0x${'12'.repeat(64)}02`],
  ['r 0', `0x${'00'.repeat(32)}${'12'.repeat(32)}1b`],
  ['s 0', `0x${'12'.repeat(32)}${'00'.repeat(32)}1b`],
  ['s above the order', `0x${'12'.repeat(32)}${'ff'.repeat(32)}1b`],
  ['an approved hash of a Safe', `0x${'00'.repeat(12)}${'12'.repeat(52)}01`],
  ['not hex', `0x${'zz'.repeat(65)}`],
  ['a number', 7],
  ['an object', { r: 1n }],
])('%s is no signature of a voucher', async (_, signature) => {
  expect(normalizeVoucherSignature(signature as Hex)).toBeUndefined()
  const [{ voucher }] = signed as [
    { voucher: { channelId: Hex; maxClaimable: bigint } },
  ]
  expect(
    await checkVoucher({
      chainId,
      voucher,
      signature: signature as Hex,
      signer: payer.address,
    }),
  ).toEqual({ ok: false, reason: 'malformedSignature' })
})

const { recoverAddress, keccak256 } = await loadAccelerator()
const tools = { viem: {}, accelerate: { recoverAddress, keccak256 } }

test.each(Object.entries(tools))('recovered by %s', async (_, tool) => {
  const [one, other] = signed as [
    (typeof signed)[number],
    (typeof signed)[number],
  ]
  const given = { chainId, ...one, signer: payer.address, ...tool }
  const right = { ok: true, signature: one.signature }
  const wrong = { ok: false, reason: 'wrongSigner' }
  expect(await checkVoucher(given)).toEqual(right)
  expect(await checkVoucher({ ...given, signer: sampleConfig.payer })).toEqual(
    right,
  )
  for (const change of [
    { signer: authorizer.address },
    { chainId: 1 },
    { signature: other.signature },
    { voucher: { ...one.voucher, maxClaimable: 99n } },
    { voucher: { ...one.voucher, channelId: `0x${'00'.repeat(32)}` } },
    // No point of the curve has this x.
    { signature: `0x${'00'.repeat(31)}05${'12'.repeat(32)}1b` },
  ])
    expect(await checkVoucher({ ...given, ...change } as never)).toEqual(wrong)
})

test('a voucher of the stock client is right', async () => {
  const { signature } = await stockVoucher(
    payer,
    channelId,
    '77',
    'eip155:8453',
  )
  const voucher = { channelId, maxClaimable: 77n }
  expect(
    await checkVoucher({ chainId, voucher, signature, signer: payer.address }),
  ).toEqual({ ok: true, signature })
})

test.each<[string, object, string]>([
  ['a chain id in text', { chainId: '8453' }, 'chainId'],
  [
    'an amount as a number',
    { voucher: { channelId, maxClaimable: 5 } },
    'voucher.maxClaimable',
  ],
  [
    'an amount in text',
    { voucher: { channelId, maxClaimable: '5' } },
    'voucher.maxClaimable',
  ],
  [
    'an amount below 0',
    { voucher: { channelId, maxClaimable: -1n } },
    'voucher.maxClaimable',
  ],
  [
    'an amount above uint128',
    { voucher: { channelId, maxClaimable: 2n ** 128n } },
    'voucher.maxClaimable',
  ],
  [
    'a signature inside',
    { voucher: { ...signed[0]?.voucher, signature: '0x' } },
    'voucher',
  ],
  ['the zero address', { signer: `0x${'00'.repeat(20)}` }, 'signer'],
  ['no recovery', { recoverAddress: 7 }, 'recoverAddress'],
  ['no hash function', { keccak256: 7 }, 'keccak256'],
])('%s throws, as it is no fault of the payer', async (_, change, field) => {
  const given = { chainId, ...signed[0], signer: payer.address, ...change }
  await expect(checkVoucher(given as never)).rejects.toMatchObject({
    name: 'InvalidFieldError',
    details: { field },
  })
})

const noRequest = async () => {
  throw new Error('no request may be sent')
}

test('a local account signs without a request', async () => {
  const transport = custom({ request: noRequest })
  const client = createWalletClient({ account: payer, transport })
  const [{ voucher, signature }] = signed as [(typeof signed)[number]]
  const given = { chainId, voucher }
  expect(await signVoucher(client, given)).toEqual({ ...voucher, signature })
  const other = await signVoucher(client, { ...given, account: authorizer })
  expect(other.signature).toBe(
    await authorizer.sign({ hash: hashVoucher(given) }),
  )
})

/** As browsers' wallets are: an object of a class, whose method needs it. */
class BrowserWallet {
  asked: string[] = []
  constructor(readonly answer: Hex) {}
  async request({ method }: { method: string }): Promise<unknown> {
    this.asked.push(method)
    return method === 'eth_chainId' ? '0x2105' : this.answer
  }
}

test('a browser wallet signs with the account that is named', async () => {
  const [{ voucher, signature }] = signed as [(typeof signed)[number]]
  const wallet = new BrowserWallet(formsOf(signature)['v 0 or 1'] as Hex)
  const given = { chainId, voucher, account: payer.address }
  expect(await signVoucher(wallet, given)).toEqual({ ...voucher, signature })
  expect(wallet.asked).toEqual(['eth_chainId', 'eth_signTypedData_v4'])
})

test.each<[string, unknown, object, string]>([
  ['no client', undefined, {}, 'InvalidFieldError'],
  ['no account', new BrowserWallet('0x'), {}, 'InvalidFieldError'],
  [
    'a client that cannot ask',
    {},
    { account: payer.address },
    'InvalidFieldError',
  ],
  [
    'a wallet on another chain',
    new BrowserWallet('0x'),
    { account: payer.address, chainId: 1 },
    'WrongWalletError',
  ],
  [
    'an empty answer',
    new BrowserWallet('0x'),
    { account: payer.address },
    'WalletError',
  ],
  [
    'a signature of a contract wallet',
    new BrowserWallet(`0x${'12'.repeat(130)}`),
    { account: payer.address },
    'WalletError',
  ],
])('%s: no voucher', async (_, client, change, name) => {
  const [{ voucher }] = signed as [(typeof signed)[number]]
  await expect(
    signVoucher(client as never, { chainId, voucher, ...change } as never),
  ).rejects.toMatchObject({ name })
})
