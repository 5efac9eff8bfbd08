import { cancelPayment } from 'countersign'
import { type DevChain, deployDevContract } from 'countersign/devchain'
import {
  type Address,
  getAddress,
  type Hex,
  type PrivateKeyAccount,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from 'viem'
import { serializeErc6492Signature } from 'viem/utils'
import { compileSolidity } from './compileSolidity.js'
import { fundedAccount, mined, newAccount, randomHash, revoke } from './desk.js'
import { flipS } from './signing.js'
import {
  price,
  type Sent,
  type SentChanges,
  sign402,
} from './stockFacilitator.js'

/** How our verdict compares with the one of `@x402/evm`. */
export type Comparison =
  /** The same, with the same code. */
  | 'same'
  /** Ours is valid and theirs is not: the token takes it. */
  | 'token takes it'
  /** Theirs is valid and ours is not: a rule of ours. */
  | 'our rule'
  /** Both are invalid, with different codes. */
  | 'other code'

/** A kind of payload, made anew each time. */
export type PayloadKind = {
  name: string
  compare: Comparison
  make: (world: PayloadWorld) => Promise<Sent>
}

export type PayloadWorld = {
  chain: DevChain
  seller: Address
  /** From 0 to 1, the same ones in each run. */
  random: () => number
  payer: () => PrivateKeyAccount
  blocked: PrivateKeyAccount
  poor: PrivateKeyAccount
  /** Deployed, owned by the key. */
  wallet: { address: Address; owner: PrivateKeyAccount }
  /** A key whose account delegates to code that knows no signatures. */
  delegated: PrivateKeyAccount
  /** Spends the nonce of a payment. */
  spend: (sent: Sent) => Promise<void>
}

const wallets = `
contract Wallet {
  address immutable owner;
  constructor(address its) { owner = its; }
  function isValidSignature(bytes32 hash, bytes calldata sig) external view returns (bytes4) {
    bytes32 r = bytes32(sig[0:32]);
    bytes32 s = bytes32(sig[32:64]);
    return ecrecover(hash, uint8(sig[64]), r, s) == owner ? bytes4(0x1626ba7e) : bytes4(0);
  }
}
contract Mute { fallback() external payable {} }`

/** Accounts of every kind, with tokens. */
export async function openPayloadWorld(
  chain: DevChain,
  seller: Address,
  { random, spend }: Pick<PayloadWorld, 'random' | 'spend'>,
): Promise<PayloadWorld> {
  const { Wallet, Mute } = compileSolidity(wallets)
  if (!Wallet || !Mute) throw new Error('no contracts')
  const payers = await Promise.all(
    Array.from({ length: 8 }, () => fundedAccount(chain, 1_000n * price)),
  )
  const blocked = await fundedAccount(chain, price)
  await chain.block({ account: blocked.address })
  const owner = newAccount()
  const address = await deployDevContract(chain, {
    contract: Wallet,
    args: [owner.address],
  })
  await chain.mint({ to: address, value: 1_000n * price })
  const delegated = await fundedAccount(chain, price)
  const mute = await deployDevContract(chain, { contract: Mute })
  await chain.clients.test.setCode({
    address: delegated.address,
    bytecode: `0xef0100${mute.slice(2)}`,
  })
  let next = 0
  return {
    chain,
    seller,
    random,
    spend,
    payer: () => payers[next++ % payers.length] as PrivateKeyAccount,
    blocked,
    poor: await fundedAccount(chain, price - 1n),
    wallet: { address, owner },
    delegated,
  }
}

type Make = PayloadKind['make']

const good =
  (changes: SentChanges = {}): Make =>
  ({ chain, seller, payer }) =>
    sign402(chain, payer(), seller, changes)

/** A good payment, one member of its authorization changed after signing. */
const changed =
  (member: string, value: (world: PayloadWorld) => string): Make =>
  async (world) => {
    const sent = await good()(world)
    const { authorization } = sent.paymentPayload.payload
    Object.assign(Object(authorization), { [member]: value(world) })
    return sent
  }

/** A good payment, its signature written in another way. */
const resigned =
  (change: (signature: Hex, world: PayloadWorld) => unknown): Make =>
  async (world) => {
    const sent = await good()(world)
    const { payload } = sent.paymentPayload
    payload.signature = change(payload.signature as Hex, world)
    return sent
  }

const withTerms =
  (change: (sent: Sent) => void, changes: SentChanges = {}): Make =>
  async (world) => {
    const sent = structuredClone(await good(changes)(world))
    change(sent)
    return sent
  }

const wallTime = () => Math.floor(Date.now() / 1000)

/** From the wall clock, far from every bound. */
const seconds = ({ random }: PayloadWorld, sign: 1 | -1) =>
  String(wallTime() + sign * (60 + Math.floor(random() * 200)))

const someone = () => newAccount().address

const signedWindow =
  (member: 'validAfter' | 'validBefore', sign: 1 | -1): Make =>
  (world) =>
    good({ authorization: { [member]: seconds(world, sign) } })(world)

const high = (signature: Hex): Hex => {
  const { r, s, v } = parseSignature(signature)
  const other = flipS(s).toString(16).padStart(64, '0')
  return `${r}${other}${v === 27n ? '1c' : '1b'}`
}

const withV = (signature: Hex): Hex => {
  const { r, s, yParity } = parseSignature(signature)
  return `${r}${s.slice(2)}0${yParity}`
}

const compact = (signature: Hex): Hex =>
  serializeCompactSignature(
    signatureToCompactSignature(parseSignature(signature) as never),
  )

/** Every kind of payload, and how our verdict compares with the stock one. */
export const payloadKinds: readonly PayloadKind[] = [
  { name: 'good', compare: 'same', make: good() },
  {
    name: 'valid for a minute already',
    compare: 'same',
    make: signedWindow('validAfter', -1),
  },
  {
    name: 'valid for long',
    compare: 'same',
    make: signedWindow('validBefore', 1),
  },
  {
    name: 'of a random amount',
    compare: 'same',
    make: (world) =>
      good({
        requirements: { amount: String(1 + Math.floor(world.random() * 1e6)) },
      })(world),
  },
  {
    name: 'without a resource',
    compare: 'same',
    make: withTerms(({ paymentPayload }) => {
      delete paymentPayload.resource
    }),
  },
  {
    name: 'with a member more in the authorization',
    compare: 'same',
    make: changed('more', () => 'x'),
  },
  {
    name: 'of a contract with code, for which nothing is signed',
    compare: 'same',
    make: (world) => good()({ ...world, payer: () => world.delegated }),
  },

  { name: 'from changed', compare: 'same', make: changed('from', someone) },
  { name: 'to changed', compare: 'same', make: changed('to', someone) },
  {
    name: 'value changed',
    compare: 'same',
    make: changed('value', ({ random }) =>
      String(1 + Math.floor(random() * 1e9)),
    ),
  },
  {
    name: 'validAfter changed',
    compare: 'same',
    make: changed('validAfter', (world) => seconds(world, -1)),
  },
  {
    name: 'validBefore changed',
    compare: 'same',
    make: changed('validBefore', (world) => seconds(world, 1)),
  },
  {
    name: 'nonce changed',
    compare: 'same',
    make: changed('nonce', randomHash),
  },
  {
    name: 'signed by another key',
    compare: 'same',
    make: (world) => good({ signer: newAccount() })(world),
  },
  {
    name: 'one byte of the signature changed',
    compare: 'same',
    make: resigned((signature, { random }) => {
      const at = 2 + 2 * Math.floor(random() * 64)
      const byte = Number(`0x${signature.slice(at, at + 2)}`) ^ 1
      return (
        signature.slice(0, at) +
        byte.toString(16).padStart(2, '0') +
        signature.slice(at + 2)
      )
    }),
  },

  { name: 'expired', compare: 'same', make: signedWindow('validBefore', -1) },
  {
    name: 'not yet valid',
    compare: 'same',
    make: (world) =>
      good({
        authorization: {
          validAfter: seconds(world, 1),
          validBefore: String(wallTime() + 900),
        },
      })(world),
  },
  {
    name: 'signed for another amount',
    compare: 'same',
    make: (world) =>
      good({
        authorization: {
          value: String(price + (world.random() < 0.5 ? 1n : -1n)),
        },
      })(world),
  },
  {
    name: 'signed to another recipient',
    compare: 'same',
    make: (world) => good({ authorization: { to: someone() } })(world),
  },
  {
    name: 'one unit short of money',
    compare: 'same',
    make: (world) => good()({ ...world, payer: () => world.poor }),
  },
  {
    name: 'without any money',
    compare: 'same',
    make: (world) => good()({ ...world, payer: newAccount }),
  },
  {
    name: 'of a blocked payer',
    compare: 'same',
    make: (world) => good()({ ...world, payer: () => world.blocked }),
  },
  {
    name: 'spent before',
    compare: 'same',
    make: async (world) => {
      const sent = await good()(world)
      await world.spend(sent)
      return sent
    },
  },
  {
    name: 'canceled before',
    compare: 'same',
    make: async (world) => {
      const { chain, seller } = world
      const payer = world.payer()
      const sent = await sign402(chain, payer, seller)
      await cancel(chain, payer, sent)
      return sent
    },
  },

  {
    name: 'name asked for and signed is not the one of the token',
    compare: 'same',
    make: good({ requirements: { extra: { name: 'USDC', version: '2' } } }),
  },
  {
    name: 'version asked for and signed is not the one of the token',
    compare: 'same',
    make: good({ requirements: { extra: { name: 'USD Coin', version: '1' } } }),
  },
  {
    name: 'name asked for is not the one signed',
    compare: 'same',
    make: good({
      requirements: { extra: { name: 'USDC', version: '2' } },
      domain: { name: 'USD Coin' },
    }),
  },
  {
    name: 'signed under another name',
    compare: 'same',
    make: good({ domain: { name: 'USDC' } }),
  },
  {
    name: 'signed under another version',
    compare: 'same',
    make: good({ domain: { version: '1' } }),
  },
  {
    name: 'signed for another chain',
    compare: 'same',
    make: good({ domain: { chainId: 8453 } }),
  },
  {
    name: 'signed for another token',
    compare: 'same',
    make: (world) => good({ domain: { token: someone() } })(world),
  },
  {
    name: 'without name',
    compare: 'same',
    make: withTerms(({ paymentRequirements: it }) => {
      it.extra = { version: '2' }
    }),
  },
  {
    name: 'without version',
    compare: 'same',
    make: withTerms(({ paymentRequirements: it }) => {
      it.extra = { name: 'USD Coin' }
    }),
  },
  {
    name: 'of another scheme, accepted',
    compare: 'same',
    make: withTerms(({ paymentPayload: it }) => {
      it.accepted = { ...it.accepted, scheme: 'upto' }
    }),
  },
  {
    name: 'of another scheme, asked for',
    compare: 'same',
    make: withTerms(({ paymentRequirements: it }) => {
      it.scheme = 'upto'
    }),
  },
  {
    name: 'on another network, accepted',
    compare: 'same',
    make: withTerms(({ paymentPayload: it }) => {
      it.accepted = { ...it.accepted, network: 'eip155:8453' }
    }),
  },

  {
    name: 'of a contract that is not there yet',
    compare: 'same',
    make: async (world) => {
      const sent = await sign402(
        world.chain,
        world.wallet.owner,
        world.seller,
        { authorization: { from: someone() } },
      )
      const { payload } = sent.paymentPayload
      payload.signature = serializeErc6492Signature({
        address: someone(),
        data: '0x1234',
        signature: payload.signature as Hex,
      })
      return sent
    },
  },
  {
    name: 'of a contract whose key did not sign',
    compare: 'same',
    make: (world) => walletPays(world, newAccount()),
  },

  // The token decides otherwise than their verdict says, or we have a rule.
  { name: 'v as 0 or 1', compare: 'token takes it', make: resigned(withV) },
  {
    name: 's in the upper half',
    compare: 'token takes it',
    make: resigned(high),
  },
  {
    name: 'a compact signature (ERC-2098)',
    compare: 'token takes it',
    make: resigned(compact),
  },
  {
    name: 'an address with a wrong checksum',
    compare: 'token takes it',
    make: async (world) => {
      const sent = await good()(world)
      const { authorization } = sent.paymentPayload.payload
      const { from } = Object(authorization)
      Object.assign(Object(authorization), { from: swapCase(from) })
      return sent
    },
  },
  {
    name: 'of a contract whose key signed',
    compare: 'our rule',
    make: (world) => walletPays(world, world.wallet.owner),
  },
  {
    name: 'valid for longer than policy.maxWindow',
    compare: 'our rule',
    make: good({ authorization: { validBefore: String(2n ** 256n - 1n) } }),
  },
  {
    name: 'an amount in hexadecimal digits',
    compare: 'our rule',
    make: changed('value', () => `0x${price.toString(16)}`),
  },
  {
    name: 'of a token that is not allowed',
    compare: 'other code',
    make: withTerms(({ paymentRequirements: it }) => {
      it.asset = someone()
    }),
  },
  {
    name: 'to a recipient that is not allowed',
    compare: 'our rule',
    make: (world) => {
      const payTo = getAddress(someone())
      return good({ requirements: { payTo }, authorization: { to: payTo } })(
        world,
      )
    },
  },
  {
    name: 'a signature of 64 other bytes',
    compare: 'same',
    make: resigned(() => `0x${'11'.repeat(64)}`),
  },
]

function swapCase(address: string): string {
  const checked = getAddress(address)
  const at = checked.slice(2).search(/[a-f]/i) + 2
  const letter = checked.charAt(at)
  const other = /[a-f]/.test(letter)
    ? letter.toUpperCase()
    : letter.toLowerCase()
  return checked.slice(0, at) + other + checked.slice(at + 1)
}

function walletPays(
  { chain, seller, wallet }: PayloadWorld,
  signer: PrivateKeyAccount,
): Promise<Sent> {
  return sign402(chain, signer, seller, {
    authorization: { from: wallet.address },
  })
}

async function cancel(
  chain: DevChain,
  payer: PrivateKeyAccount,
  { paymentPayload }: Sent,
): Promise<void> {
  const { nonce } = Object(paymentPayload.payload.authorization)
  const domain = {
    name: 'USD Coin',
    version: '2',
    chainId: 31337,
    verifyingContract: chain.token,
  }
  const from = payer.address.toLowerCase() as Address
  const message = {
    from,
    to: from,
    value: 1n,
    validAfter: 0n,
    validBefore: 1n,
    nonce,
  }
  const primaryType = 'TransferWithAuthorization' as const
  const cancellation = await revoke(
    chain,
    { primaryType, domain, message },
    payer,
  )
  await mined(chain, cancelPayment(chain.clients.relayer, { cancellation }))
}
