import { readFileSync } from 'node:fs'
import { deployDevContract, devContracts } from 'countersign/devchain'
import {
  type Address,
  concatHex,
  type Hex,
  keccak256,
  maxUint256,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  serializeErc6492Signature,
  serializeSignature,
  signatureToCompactSignature,
  slice,
  stringToHex,
  zeroHash,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import type { Cancellation, Payment } from '../../../../src/core/types.js'
import { delegate } from '../../support/families.js'
import { account, flipS, sign } from '../../support/signing.js'
import {
  type Answer,
  authority,
  startTwins,
  type TwinCall,
} from '../../support/twinTokens.js'

const twins = await startTwins()
afterAll(() => twins.stop())

const domain = {
  name: 'USD Coin',
  version: '2',
  chainId: 31337,
  verifyingContract: twins.token,
}
const stranger = account('stranger')
const recipient = account('recipient').address

/** What can be wrong about a call, in the order in which the token looks. */
const faults = {
  paused: 'Pausable: paused',
  payerBlocked: 'Blacklistable: account is blacklisted',
  recipientBlocked: 'Blacklistable: account is blacklisted',
  otherCaller: 'FiatTokenV2: caller must be the payee',
  notYetValid: 'FiatTokenV2: authorization is not yet valid',
  expired: 'FiatTokenV2: authorization is expired',
  spent: 'FiatTokenV2: authorization is used or canceled',
  otherSigner: 'FiatTokenV2: invalid signature',
  short: 'ERC20: transfer amount exceeds balance',
} as const

type Fault = keyof typeof faults
type Kind = keyof typeof kinds

const isFault = (name: string): name is Fault => name in faults
const allFaults = Object.keys(faults).filter(isFault)

const kinds = {
  receiveWithAuthorization: allFaults,
  transferWithAuthorization: allFaults.filter((it) => it !== 'otherCaller'),
  cancelAuthorization: ['paused', 'spent', 'otherSigner'],
} as const satisfies Record<string, readonly Fault[]>

type Sides = { signer: PrivateKeyAccount; payer: Address; recipient: Address }

/** Two sides nobody used before, the payer with 10 tokens. */
async function meet(name: string): Promise<Sides> {
  const signer = account(`${name} payer`)
  const payer = signer.address
  await fund(payer)
  return { signer, payer, recipient: account(`${name} recipient`).address }
}

async function fund(payer: Address): Promise<void> {
  await govern('configureMinter', authority, maxUint256)
  await govern('mint', payer, 10_000_000n)
}

/** Uses a role of the token, which has to succeed. */
async function govern(
  functionName: string,
  ...args: readonly unknown[]
): Promise<void> {
  const answers = await twins.ask({ from: authority, functionName, args })
  for (const { words } of answers) expect(words).toBe('success')
}

type Asked = {
  kind: Kind
  name: string
  sides: Sides
  wrong?: readonly Fault[]
  form?: 'bytes' | 'v, r, s'
  reshape?: (signature: Hex) => Hex
}

/** The call for the block that comes next, wrong in the ways that are given. */
async function prepare({
  kind,
  name,
  sides: { signer, payer, recipient },
  wrong = [],
  form = 'bytes',
  reshape = (signature) => signature,
}: Asked): Promise<TwinCall> {
  const nonce = keccak256(stringToHex(name))
  const by = wrong.includes('otherSigner') ? stranger : signer
  const now = twins.nextTime()
  const message = {
    from: payer,
    to: recipient,
    value: wrong.includes('short') ? 10_000_001n : 1_000_000n,
    validAfter: wrong.includes('notYetValid') ? now : 0n,
    validBefore: wrong.includes('expired') ? now : 2n ** 40n,
    nonce,
  }
  const typed: Payment | Cancellation =
    kind === 'cancelAuthorization'
      ? {
          primaryType: 'CancelAuthorization',
          domain,
          message: { authorizer: payer, nonce },
        }
      : {
          primaryType:
            kind === 'receiveWithAuthorization'
              ? 'ReceiveWithAuthorization'
              : 'TransferWithAuthorization',
          domain,
          message,
        }
  const signature = reshape(await sign(by, typed))
  return {
    from: wrong.includes('otherCaller') ? stranger.address : recipient,
    functionName: kind,
    args: [
      ...(kind === 'cancelAuthorization'
        ? [payer, nonce]
        : Object.values(message)),
      ...(form === 'bytes' ? [signature] : split(signature)),
    ],
  }
}

const split = (signature: Hex) => [
  Number(slice(signature, 64, 65)),
  slice(signature, 0, 32),
  slice(signature, 32, 64),
]

/** Brings the tokens into the state the faults need, asks, and mends it. */
async function play(asked: Asked): Promise<readonly [Answer, Answer]> {
  const { sides, wrong = [] } = asked
  if (wrong.includes('spent'))
    await twins.ask(
      await prepare({ ...asked, kind: 'cancelAuthorization', wrong: [] }),
    )
  if (wrong.includes('payerBlocked')) await govern('blacklist', sides.payer)
  if (wrong.includes('recipientBlocked'))
    await govern('blacklist', sides.recipient)
  if (wrong.includes('paused')) await govern('pause')
  const answers = await twins.ask(await prepare(asked))
  if (wrong.includes('paused')) await govern('unpause')
  return answers
}

/** Each fault alone, and each two together. */
function combine(list: readonly Fault[]): (readonly Fault[])[] {
  return list.flatMap((first, place) => [
    [first],
    ...list.slice(place + 1).map((second) => [first, second]),
  ])
}

test.each(Object.keys(kinds) as Kind[])(
  'both tokens look at what is wrong in the same order: %s',
  async (kind) => {
    const heard: unknown[] = []
    const expected: unknown[] = []
    for (const wrong of combine(kinds[kind])) {
      const name = `${kind} ${wrong}`
      const sides = await meet(name)
      const [own, usdc] = await play({ kind, name, sides, wrong })
      heard.push([wrong, own.words, usdc.words, own.logs, usdc.logs])
      const [first] = wrong
      const words = first && faults[first]
      expected.push([wrong, words, words, [], []])
    }
    expect(heard).toEqual(expected)
  },
)

const shapes: Record<string, (signature: Hex) => Hex> = {
  'v of 0 or 1': (signature) =>
    `${slice(signature, 0, 64)}0${parseSignature(signature).yParity}`,
  'high s': (signature) => {
    const { r, s, yParity } = parseSignature(signature)
    const high = numberToHex(flipS(s), { size: 32 })
    return serializeSignature({ r, s: high, yParity: 1 - yParity })
  },
  'high s and v of 29': (signature) => {
    const { r, s } = parseSignature(signature)
    return concatHex([r, numberToHex(flipS(s), { size: 32 }), '0x1d'])
  },
  compact: (signature) =>
    serializeCompactSignature(
      signatureToCompactSignature(parseSignature(signature)),
    ),
  empty: () => '0x',
  '64 bytes': (signature) => slice(signature, 0, 64),
  '66 bytes': (signature) => concatHex([signature, '0x00']),
  'r of nothing': (signature) => concatHex([zeroHash, slice(signature, 32)]),
  'r and s of nothing': () => concatHex([zeroHash, zeroHash, '0x1b']),
  wrapped: (signature) =>
    serializeErc6492Signature({ address: recipient, data: '0x01', signature }),
}

test('both tokens refuse the forms of a signature with the same words', async () => {
  const heard: Record<string, readonly string[]> = {}
  for (const [name, reshape] of Object.entries(shapes)) {
    const sides = await meet(name)
    const kind = 'receiveWithAuthorization'
    const answers = await play({ kind, name, sides, reshape })
    heard[name] = answers.map(({ words }) => words)
  }
  const twice = (words: string) => [words, words]
  const length = twice('ECRecover: invalid signature length')
  expect(heard).toEqual({
    'v of 0 or 1': twice("ECRecover: invalid signature 'v' value"),
    'high s': twice("ECRecover: invalid signature 's' value"),
    'high s and v of 29': twice("ECRecover: invalid signature 's' value"),
    compact: length,
    empty: length,
    '64 bytes': length,
    '66 bytes': length,
    'r of nothing': twice('ECRecover: invalid signature'),
    'r and s of nothing': twice('ECRecover: invalid signature'),
    wrapped: length,
  })
})

const wallets = [
  'strictWallet',
  'permissiveWallet',
  'strictDelegate',
  'permissiveDelegate',
] as const

/** Puts the code of a wallet at the payer's address. */
async function furnish(
  wallet: (typeof wallets)[number],
  { payer, signer }: Sides,
): Promise<Sides> {
  if (wallet.endsWith('Delegate')) {
    await twins.both((chain) => delegate(chain, payer, devContracts[wallet]))
    return { signer, payer, recipient }
  }
  const args = wallet === 'strictWallet' ? [signer.address] : []
  const contract = devContracts[wallet]
  const [address = payer, other] = await twins.both((chain) =>
    deployDevContract(chain, { contract, args }),
  )
  expect(other).toBe(address)
  await fund(address)
  return { signer, payer: address, recipient }
}

test('both tokens ask an account with code, and it alone', async () => {
  const heard: unknown[] = []
  for (const wallet of wallets)
    for (const wrong of [[], ['otherSigner']] as const)
      for (const kind of Object.keys(kinds) as Kind[]) {
        const name = `${wallet} ${kind} ${wrong}`
        const sides = await furnish(wallet, await meet(name))
        const [own, usdc] = await play({ kind, name, sides, wrong })
        const told = [wallet, ...wrong, usdc.words]
        if (kind === 'receiveWithAuthorization') heard.push(told.join(': '))
        expect(comparable(own)).toEqual(comparable(usdc))
      }
  expect(heard).toEqual([
    'strictWallet: success',
    'strictWallet: otherSigner: FiatTokenV2: invalid signature',
    'permissiveWallet: success',
    'permissiveWallet: otherSigner: success',
    'strictDelegate: FiatTokenV2: invalid signature',
    'strictDelegate: otherSigner: FiatTokenV2: invalid signature',
    'permissiveDelegate: success',
    'permissiveDelegate: otherSigner: FiatTokenV2: invalid signature',
  ])
})

/** All that a chain shows of an answer but its price. */
const comparable = ({ words, logs }: Answer) => ({ words, logs })

const deeds = (Object.keys(kinds) as Kind[]).flatMap((kind) =>
  (['bytes', 'v, r, s'] as const).map((form) => ({ kind, form })),
)

test('both tokens write the same logs, and gas is what is printed here', async () => {
  const gas: Record<string, readonly number[]> = {}
  const note = (name: string, answers: readonly Answer[]) => {
    gas[name] = answers.map((it) => it.gas)
  }
  for (const { kind, form } of deeds) {
    const name = `${kind} (${form})`
    const sides = { ...(await meet(name)), recipient }
    await fund(recipient)
    const [own, usdc] = await play({ kind, name, sides, form })
    expect(usdc.words).toBe('success')
    expect(usdc.logs.length).toBe(kind === 'cancelAuthorization' ? 1 : 2)
    expect(comparable(own)).toEqual(comparable(usdc))
    note(name, [own, usdc])
  }
  const kind = 'receiveWithAuthorization'
  const fresh = 'to a recipient without tokens'
  note(fresh, await play({ kind, name: fresh, sides: await meet(fresh) }))
  for (const fault of ['spent', 'short'] as const) {
    const wrong = [fault]
    const name = `refused: ${fault}`
    note(name, await play({ kind, name, sides: await meet(name), wrong }))
  }
  // The development token first.
  expect(gas).toEqual({
    'receiveWithAuthorization (bytes)': [79_837, 86_135],
    'receiveWithAuthorization (v, r, s)': [79_580, 85_731],
    'transferWithAuthorization (bytes)': [79_792, 86_108],
    'transferWithAuthorization (v, r, s)': [79_465, 85_704],
    'cancelAuthorization (bytes)': [60_681, 71_200],
    'cancelAuthorization (v, r, s)': [60_306, 70_801],
    'to a recipient without tokens': [96_937, 103_235],
    'refused: spent': [34_798, 41_321],
    'refused: short': [68_924, 77_243],
  })
  const guide = readFileSync('docs/devchain.md', 'utf8')
  for (const documented of [
    'receiveWithAuthorization (bytes)',
    'to a recipient without tokens',
    'cancelAuthorization (bytes)',
  ]) {
    const [own = 0, usdc = 0] = gas[documented] ?? []
    const cells = [own, usdc].map((it) => it.toLocaleString('en'))
    expect(guide).toContain(`| ${cells.join(' | ')} |`)
  }
})
