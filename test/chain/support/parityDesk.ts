import {
  cancelCall,
  captureCall,
  type Payment,
  type SignedPayment,
  type TokenCall,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import {
  type Address,
  type Hash,
  type Hex,
  keccak256,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  serializeErc6492Signature,
  serializeSignature,
  signatureToCompactSignature,
  stringToHex,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, expect } from 'vitest'
import { deployDevContract } from '../../../src/devchain/deployDevContract.js'
import { devContracts } from '../../../src/devchain/devContracts.js'
import type { Case, Form, Kind } from './cases.js'
import { deployFamilies } from './families.js'
import { account, flipS, sign } from './signing.js'

export const seed = Number(
  process.env.COUNTERSIGN_SEED ?? Math.floor(Math.random() * 2 ** 31),
)

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

export const { public: client } = chain.clients
export const merchant =
  chain.clients.merchant.account.address.toLowerCase() as Address
const relayer = chain.clients.relayer.account.address
export const families = await deployFamilies(chain)

const funds = 10n ** 24n
const owner = account('owner')
const stranger = account('stranger')
export const payers = await preparePayers()

export function rpc<result>(
  method: string,
  params: readonly unknown[] = [],
): Promise<result> {
  return client.request({ method, params } as never)
}

type Payer = { address: Address; signer: PrivateKeyAccount }

async function preparePayers(): Promise<Record<Kind, Payer>> {
  const wallet = async (name: 'strictWallet' | 'permissiveWallet') => {
    const args = name === 'strictWallet' ? [owner.address] : []
    const contract = devContracts[name]
    const address = await deployDevContract(chain, { contract, args })
    return { address: address.toLowerCase() as Address, signer: owner }
  }
  const plain = (signer: PrivateKeyAccount) => ({
    address: signer.address.toLowerCase() as Address,
    signer,
  })
  const prepared = {
    key: plain(account('key')),
    strictWallet: await wallet('strictWallet'),
    permissiveWallet: await wallet('permissiveWallet'),
    strictDelegate: plain(account('strict delegate')),
    permissiveDelegate: plain(account('permissive delegate')),
  }
  for (const { mint } of Object.values(families))
    for (const { address } of Object.values(prepared))
      await mint(address, funds)
  return prepared
}

/** Spends the nonces that cases need spent, in blocks of many transactions. */
export async function spendNonces(cases: readonly Case[]): Promise<void> {
  const spent = cases.filter(({ nonce }) => nonce !== 'fresh')
  const calls = await Promise.all(spent.map(spendingCall))
  await rpc('evm_setAutomine', [false])
  for (let at = 0; at < calls.length; at += 100) {
    const hashes: Hash[] = []
    for (const call of calls.slice(at, at + 100))
      hashes.push(await rpc('eth_sendTransaction', [from(relayer, call)]))
    await rpc('evm_mine')
    for (const hash of hashes)
      expect(await rpc('eth_getTransactionReceipt', [hash])).toMatchObject({
        status: '0x1',
      })
  }
  await rpc('evm_setAutomine', [true])
}

async function spendingCall(it: Case): Promise<TokenCall> {
  const { domain } = families[it.family]
  const { address, signer } = payers[it.kind]
  const nonce = nonceOf(it)
  if (it.nonce === 'canceled') {
    const primaryType = 'CancelAuthorization'
    const message = { authorizer: address, nonce }
    const cancellation = { primaryType, domain, message } as const
    const signature = await sign(signer, cancellation)
    return cancelCall({ cancellation: { ...cancellation, signature } })
  }
  const payment: Payment = {
    primaryType: 'TransferWithAuthorization',
    domain,
    message: {
      from: address,
      to: relayer.toLowerCase() as Address,
      value: 1n,
      validAfter: 0n,
      validBefore: 2n ** 40n,
      nonce,
    },
  }
  const signature = await sign(signer, payment)
  return captureCall({ payment: { ...payment, signature } })
}

const nonceOf = ({ index }: Case): Hex =>
  keccak256(stringToHex(`${seed} ${index}`))

/** The payment of a case, to be judged in a block of this time. */
export async function makePayment(
  it: Case,
  time: bigint,
): Promise<SignedPayment> {
  const { domain } = families[it.family]
  const { address, signer } = payers[it.kind]
  const payment: Payment = {
    primaryType: it.primaryType,
    domain: it.form === 'wrongName' ? { ...domain, name: 'USD' } : domain,
    message: {
      from: address,
      to: merchant,
      value: it.balance === 'short' ? funds + 1n : 1_000_000n,
      ...windows(time)[it.window],
      nonce: nonceOf(it),
    },
  }
  const by = /wrongSigner/i.test(it.form) ? stranger : signer
  const signed = it.form === 'otherType' ? otherType(payment) : payment
  const signature = reshape(it.form, await sign(by, signed), nonceOf(it))
  const { message } = payment
  const value = it.form === 'tampered' ? message.value + 1n : message.value
  return { ...payment, message: { ...message, value }, signature }
}

/** Both bounds are exclusive on chain. */
const windows = (time: bigint) => ({
  open: { validAfter: time - 60n, validBefore: time + 900n },
  tight: { validAfter: time - 1n, validBefore: time + 1n },
  notYetValid: { validAfter: time, validBefore: time + 900n },
  expired: { validAfter: time - 900n, validBefore: time },
})

const otherType = (payment: Payment): Payment => ({
  ...payment,
  primaryType:
    payment.primaryType === 'ReceiveWithAuthorization'
      ? 'TransferWithAuthorization'
      : 'ReceiveWithAuthorization',
})

function reshape(form: Form, signature: Hex, noise: Hex): Hex {
  const { r, s, yParity } = parseSignature(signature)
  const wrap = () =>
    serializeErc6492Signature({ address: relayer, data: '0x01', signature })
  switch (form) {
    case 'v01':
      return `${signature.slice(0, 130) as Hex}0${yParity}`
    case 'highS': {
      const high = numberToHex(flipS(s), { size: 32 })
      return serializeSignature({ r, s: high, yParity: 1 - yParity })
    }
    case 'compact':
      return serializeCompactSignature(
        signatureToCompactSignature({ r, s, yParity }),
      )
    case 'wrapped':
    case 'wrappedWrongSigner':
      return wrap()
    case 'garbageShort':
      return noise
    case 'garbage65':
      return `0x00${noise.slice(4)}00${noise.slice(4)}1b`
    case 'garbage100':
      return `0x${noise.slice(2).repeat(4).slice(0, 200)}`
    default:
      return signature
  }
}

/** From an account the node has the key of. */
export const from = (sender: Address, { to, data }: TokenCall): object => ({
  from: sender,
  to,
  data,
  gas: numberToHex(300_000),
})
