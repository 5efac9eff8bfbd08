import {
  cancelCall,
  captureCall,
  getPaymentOutcome,
  type Payment,
  type PaymentVerdict,
  type SignedPayment,
  type TokenCall,
  verifyPayment,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import {
  type Abi,
  type Address,
  createPublicClient,
  custom,
  decodeErrorResult,
  formatUnits,
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
import { afterAll, expect, test } from 'vitest'
import { deployDevContract } from '../../../../src/devchain/deployDevContract.js'
import { devContracts } from '../../../../src/devchain/devContracts.js'
import {
  type Case,
  dimensions,
  type Ending,
  type Form,
  foretell,
  generateCases,
  type Kind,
} from '../../support/cases.js'
import {
  delegate,
  deployFamilies,
  type Family,
} from '../../support/families.js'
import { account, flipS, sign } from '../../support/signing.js'

const rounds = process.env.COUNTERSIGN_FULL ? 10 : 2
const seed = Number(
  process.env.COUNTERSIGN_SEED ?? Math.floor(Math.random() * 2 ** 31),
)

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: client } = chain.clients
const merchant = chain.clients.merchant.account.address.toLowerCase() as Address
const relayer = chain.clients.relayer.account.address
const families = await deployFamilies(chain)

const funds = 10n ** 24n
const owner = account('owner')
const stranger = account('stranger')
const payers = await preparePayers()

/** The node without state overrides: it drops what it does not know. */
const plainClient = createPublicClient({
  chain: chain.chain,
  transport: custom({
    request: ({ method, params }) =>
      rpc(method, method === 'eth_call' ? params.slice(0, 2) : params),
  }),
})

function rpc<result>(
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
async function spendNonces(cases: readonly Case[]): Promise<void> {
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
async function makePayment(it: Case, time: bigint): Promise<SignedPayment> {
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
const from = (sender: Address, { to, data }: TokenCall): object => ({
  from: sender,
  to,
  data,
  gas: numberToHex(300_000),
})

const errors: Abi = [
  ...devContracts.paxosToken.abi,
  ...devContracts.ozToken.abi,
].filter(({ type }) => type === 'error')

/** What the token said in the mined transaction. */
async function wordsOf(hash: Hash): Promise<string> {
  const { output } = await rpc<{ output?: Hex }>('debug_traceTransaction', [
    hash,
    { tracer: 'callTracer' },
  ])
  if (!output || output === '0x') return ''
  const { errorName, args } = decodeErrorResult({ abi: errors, data: output })
  return errorName === 'Error' ? String(args?.[0]) : errorName
}

/** What a capture did: its proof, the token's words, or nothing at all. */
type Settlement = 'proven' | 'nothing' | 'not sent' | { words: string }

async function settle(payment: SignedPayment): Promise<Settlement> {
  let call: TokenCall
  try {
    call = captureCall({ payment })
  } catch {
    return 'not sent'
  }
  const { status, transactionHash: hash } = await rpc<{
    status: Hex
    transactionHash: Hash
  }>('eth_sendTransactionSync', [from(merchant, call)])
  if (status !== '0x1') return { words: await wordsOf(hash) }
  const { signature: _, ...message } = payment
  const outcome = await getPaymentOutcome(client, { payment: message, hash })
  return outcome.status === 'captured' && outcome.proof.transactionHash === hash
    ? 'proven'
    : 'nothing'
}

/** Whether the chain ended a case as foretold. */
function endedAs(ending: Ending, settlement: Settlement): boolean {
  if (!('words' in ending)) return settlement === 'proven'
  if (typeof settlement === 'object')
    return ending.words.includes(settlement.words)
  const silent = ending.reason === 'consumed' ? 'nothing' : 'not sent'
  return ending.words.length === 0 && settlement === silent
}

const reasonOf = (verdict: PaymentVerdict): string =>
  verdict.ok ? 'ok' : verdict.reason

/** Plays one case; tells what did not agree. */
async function play(it: Case, time: bigint): Promise<object[]> {
  const { token, decimals } = families[it.family]
  const payment = await makePayment(it, time)
  const { value } = payment.message
  const parameters = {
    payment,
    block: 'pending',
    expect: {
      token,
      to: merchant,
      amount: formatUnits(value, decimals),
      primaryType: it.primaryType,
    },
  } as const
  await rpc('evm_setNextBlockTimestamp', [Number(time)])
  const [verdict, plain] = await Promise.all([
    verifyPayment(client, parameters),
    verifyPayment(plainClient, parameters),
  ])
  const settlement = await settle(payment)
  const ending = foretell(it)
  counts.set(ending.reason, (counts.get(ending.reason) ?? 0) + 1)
  const agreed =
    endedAs(ending, settlement) &&
    reasonOf(verdict) === ending.reason &&
    judgedAt(verdict, 'override', time, it) &&
    JSON.stringify(comparable(plain)) === JSON.stringify(comparable(verdict)) &&
    judgedAt(plain, 'calls', time, it)
  return agreed ? [] : [{ case: it, ending, settlement, verdict, plain }]
}

/** All but the way and the gas, which only one of the two ways knows. */
function comparable(verdict: PaymentVerdict): object {
  const { at, ...rest } = verdict
  return { ...rest, block: String(at?.block), time: String(at?.time) }
}

const judgedAt = (
  { at }: PaymentVerdict,
  via: 'override' | 'calls',
  time: bigint,
  { form }: Case,
): boolean =>
  form === 'garbageShort' ? !at : at?.via === via && at.time === time

const counts = new Map<string, number>()

async function setState(
  { pause, block }: Family,
  state: Case['state'],
  on: boolean,
): Promise<void> {
  if (state === 'paused') await pause?.(on)
  if (state === 'payerBlocked' || state === 'bothBlocked')
    for (const { address } of Object.values(payers)) await block?.(address, on)
  if (state === 'recipientBlocked' || state === 'bothBlocked')
    await block?.(merchant, on)
}

async function playGroup(
  family: Family,
  state: Case['state'],
  cases: readonly Case[],
): Promise<object[]> {
  const disagreements: object[] = []
  await setState(family, state, true)
  const { timestamp } = await client.getBlock()
  let time = timestamp
  for (const it of cases) {
    time += 2n
    disagreements.push(...(await play(it, time)))
  }
  await setState(family, state, false)
  return disagreements
}

const states = [
  'none',
  'paused',
  'payerBlocked',
  'recipientBlocked',
  'bothBlocked',
] as const

test(`the verdict is what the token then does, with overrides and without (seed ${seed})`, {
  timeout: 1_800_000,
}, async () => {
  const cases = generateCases(rounds, seed)
  await spendNonces(cases)
  await delegate(
    chain,
    payers.strictDelegate.address,
    devContracts.strictDelegate,
  )
  await delegate(
    chain,
    payers.permissiveDelegate.address,
    devContracts.permissiveDelegate,
  )

  const disagreements: object[] = []
  for (const name of dimensions.family)
    for (const state of states)
      disagreements.push(
        ...(await playGroup(
          families[name],
          state,
          cases.filter((it) => it.family === name && it.state === state),
        )),
      )
  expect(disagreements).toEqual([])
  expect(cases.length).toBeGreaterThan(1000)
  expect([...counts.keys()].sort()).toEqual(reasons)
})

const reasons = [
  'consumed',
  'expired',
  'insufficientFunds',
  'malformedSignature',
  'notYetValid',
  'ok',
  'paused',
  'payerBlocked',
  'recipientBlocked',
  'unsupportedToken',
  'walletNotDeployed',
  'walletRejects',
  'wrongDomain',
  'wrongSigner',
]
