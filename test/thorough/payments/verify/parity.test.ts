import {
  captureCall,
  getPaymentOutcome,
  type PaymentVerdict,
  type SignedPayment,
  type TokenCall,
  verifyPayment,
} from 'countersign'
import {
  type Abi,
  createPublicClient,
  custom,
  decodeErrorResult,
  formatUnits,
  type Hash,
  type Hex,
} from 'viem'
import { expect, test } from 'vitest'
import { devContracts } from '../../../../src/devchain/devContracts.js'
import {
  type Case,
  dimensions,
  type Ending,
  foretell,
  generateCases,
} from '../../../chain/support/cases.js'
import { delegate, type Family } from '../../../chain/support/families.js'
import {
  chain,
  client,
  families,
  from,
  makePayment,
  merchant,
  payers,
  rpc,
  seed,
  spendNonces,
} from '../../../chain/support/parityDesk.js'

const rounds = process.env.COUNTERSIGN_FULL ? 10 : 2

/** The node without state overrides: it drops what it does not know. */
const plainClient = createPublicClient({
  chain: chain.chain,
  transport: custom({
    request: ({ method, params }) =>
      rpc(method, method === 'eth_call' ? params.slice(0, 2) : params),
  }),
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
