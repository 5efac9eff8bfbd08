import { inspect } from 'node:util'
import {
  buildCancellation,
  CountersignError,
  cancelCall,
  cancelPayment,
  captureCall,
  capturePayment,
  capturePaymentSync,
  decodePayment,
  encodePayment,
  explainSignature,
  getPaymentOutcome,
  hashPayment,
  type Payment,
  paymentTypedData,
  type SignedCancellation,
  type SignedPayment,
  signCancellation,
  signCapture,
  signPayment,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import {
  type Account,
  type Client,
  concatHex,
  encodeAbiParameters,
  type Hex,
  HttpRequestError,
  RpcRequestError,
  slice,
  TimeoutError,
} from 'viem'
import { toAccount } from 'viem/accounts'
import { mine, setAutomine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  type Asked,
  draft,
  fakeNode,
  mined,
  revoke,
  rpcError,
} from '../../support/desk.js'
import { cancelPageOf } from '../../support/settle.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
const { public: reader, test: node, merchant, payer, relayer } = chain.clients
const payment = await draft(chain)
const cancellation = await revoke(chain, await draft(chain))
const failed = await draft(chain)
const failedHash = await mined(
  chain,
  capturePayment(merchant, { payment: failed, gas: 85_000n, simulate: false }),
)
// From here on nothing is mined, so that each call starts from the same state.
await setAutomine(node, false)
afterAll(() => mine(node, { blocks: 1 }))

const signatures = [payment, cancellation, failed].map((it) => it.signature)

/** How r and s of a signature, or all of it, can be written. */
function spellings(signature: Hex): string[] {
  const bytes = Buffer.from(signature.slice(2), 'hex')
  const base64 = (from: number, to: number) =>
    bytes.subarray(from, to).toString('base64').slice(0, 40)
  return [slice(signature, 0, 32), slice(signature, 32, 64)]
    .flatMap((part) => [
      part.slice(2).toLowerCase(),
      part.slice(2).toUpperCase(),
      BigInt(part).toString(),
    ])
    .concat(base64(0, 30), base64(32, 62), base64(33, 63), base64(34, 64))
    .concat(
      [bytes.subarray(0, 32), bytes.subarray(32, 64)].flatMap((part) =>
        Object.values(groupings).map((group) => group(part)),
      ),
    )
}

/** The same in groups, as careless nodes print bytes. */
const groupings: Record<string, (bytes: Buffer) => string> = {
  'a list of bytes': (bytes) => [...bytes].join(','),
  'a list of bytes with spaces': (bytes) => [...bytes].join(', '),
  'groups of 8 digits': (bytes) =>
    bytes.toString('hex').match(/.{8}/g)?.join(' ') ?? '',
  'pairs of digits': (bytes) =>
    bytes.toString('hex').match(/../g)?.join(':') ?? '',
}

const grouped = (group: (bytes: Buffer) => string) =>
  signatures
    .map((it) => group(Buffer.from(it.slice(2, 130), 'hex')))
    .map((text) => `[${text}]`)
    .join(' and ')

const secrets = signatures.flatMap(spellings)

/** All text that can be got out of a value, its hidden parts included. */
function textsOf(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'bigint' || typeof value === 'string')
    return [String(value)]
  if (typeof value !== 'object' || !value || seen.has(value)) return []
  seen.add(value)
  const texts = [
    inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
    JSON.stringify(value, (_, it) => (typeof it === 'bigint' ? `${it}` : it)),
  ]
  for (
    let at: object | null = value;
    at && at !== Object.prototype;
    at = Object.getPrototypeOf(at)
  )
    for (const key of Reflect.ownKeys(at))
      texts.push(String(key), ...textsOf(Reflect.get(at, key, value), seen))
  return texts
}

function expectNoLeak(value: unknown): void {
  const texts = textsOf(value)
  const leaked = secrets.filter((it) => texts.some((text) => text.includes(it)))
  expect(leaked).toEqual([])
}

test('a leak in any spelling and any place would be found', () => {
  const [signature = '0x'] = signatures
  const error = new Error('x', { cause: { deep: [signature.toUpperCase()] } })
  expect(() => expectNoLeak(error)).toThrow()
  const hidden = Object.defineProperty(new Error('x'), 'it', {
    value: { sig: BigInt(slice(signature, 32, 64)) },
  })
  expect(() => expectNoLeak(hidden)).toThrow()
  const base64 = Buffer.from(signature.slice(2), 'hex').toString('base64')
  expect(() => expectNoLeak(new Error(`in ${base64}`))).toThrow()
  expect(() => expectNoLeak(new Error('nothing'))).not.toThrow()
})

const revertText = (text: string) =>
  concatHex(['0x08c379a0', encodeAbiParameters([{ type: 'string' }], [text])])

/** Other spellings of what was sent. */
const decimals = signatures
  .flatMap((it) => [slice(it, 0, 32), slice(it, 32, 64)])
  .map((it) => BigInt(it))
  .join(' ')
const base64s = signatures
  .map((it) => Buffer.from(it.slice(2), 'hex').toString('base64'))
  .join(' ')
const parts = signatures
  .flatMap((it) => [slice(it, 0, 32), slice(it, 32, 64)])
  .map((it) => Buffer.from(it.slice(2), 'hex').toString('base64'))
  .join(', ')

/** The longest hex text of a request: call data or a raw transaction. */
function payloadOf({ params }: Asked): Hex {
  const found = JSON.stringify(params ?? []).match(/0x[\da-f]+/gi) ?? []
  return found.sort((a, b) => b.length - a.length)[0] as Hex
}

const url = 'https://user:key@node.example/secret'

/** What a hostile or careless node does with a request; throws or answers. */
const failures: Record<string, (sent: Asked) => unknown> = {
  'HTTP 500 with the body': (sent) => {
    const details = JSON.stringify(sent)
    throw new HttpRequestError({ body: sent, details, status: 500, url })
  },
  'HTTP 400 with the body': (sent) => {
    const details = JSON.stringify(sent)
    throw new HttpRequestError({ body: sent, details, status: 400, url })
  },
  'an RPC error with the body': (sent) => {
    const message = `cannot serve ${JSON.stringify(sent)}`
    const error = { code: -32000, message, data: { data: payloadOf(sent) } }
    throw new RpcRequestError({ body: sent, error, url })
  },
  'a timeout with the body': (sent) => {
    throw new TimeoutError({ body: sent, url })
  },
  'call data in the message': (sent) => {
    throw rpcError(-32000, `bad data ${payloadOf(sent)}`, payloadOf(sent))
  },
  'upper case call data': (sent) => {
    throw rpcError(-32602, `BAD ${payloadOf(sent).toUpperCase()}`)
  },
  'call data as revert data': (sent) => {
    throw rpcError(3, 'execution reverted', payloadOf(sent))
  },
  'call data as revert text': (sent) => {
    const data = revertText(`no: ${payloadOf(sent)}`)
    throw rpcError(3, `execution reverted: ${payloadOf(sent)}`, data)
  },
  'decimal numbers': () => {
    throw rpcError(-32000, `r and s: ${decimals}`, revertText(decimals))
  },
  'decimal numbers as revert text': () => {
    throw rpcError(3, decimals, revertText(decimals))
  },
  base64: () => {
    throw rpcError(-32000, `in ${base64s} or ${parts}`)
  },
  'base64 as revert text': () => {
    throw rpcError(3, base64s, revertText(`${parts} ${base64s}`))
  },
  ...Object.fromEntries(
    Object.entries(groupings).map(([name, group]) => [
      name,
      () => {
        const text = grouped(group)
        throw rpcError(3, `execution reverted: ${text}`, revertText(text))
      },
    ]),
  ),
  'a very long line': (sent) => {
    throw rpcError(
      -32000,
      `${'word '.repeat(380)}${payloadOf(sent).repeat(50)}`,
    )
  },
  'a refusal to know': (sent) => {
    throw rpcError(-32003, `nonce too low: ${payloadOf(sent)}`)
  },
  'a chain of causes': (sent) => {
    const cause = Object.assign(new Error(JSON.stringify(sent)), { sent })
    throw new Error('outer', { cause: new Error('inner', { cause }) })
  },
  'a thrown string': (sent) => {
    throw JSON.stringify(sent)
  },
  'a thrown object': (sent) => {
    throw { message: payloadOf(sent), data: sent, request: sent, code: 7 }
  },
  'call data for an answer': payloadOf,
  'the request for an answer': (sent) => sent,
  'text for an answer': (sent) => JSON.stringify(sent),
  'a list for an answer': (sent) => [sent],
  'nothing for an answer': () => null,
}

/** Nothing is mined, so a synchronous sending would wait for long. */
async function soundly({ method }: Asked, forward: () => Promise<unknown>) {
  if (method === 'eth_sendRawTransactionSync') throw rpcError(4, 'timeout')
  return forward()
}

type Given = { client: Client; account: Account }
const expected = {
  token: chain.token,
  to: payment.message.to,
  amount: '12.50',
  chainId: 31337,
}
const soon = { timeout: 30, pollingInterval: 5 }
const fees = { maxFeePerGas: 90_000_000_000n, maxPriorityFeePerGas: 1n }
const local = merchant.account
const remote = toAccount(merchant.account.address)

/** Each function that shows a signature to a node: a new one is one row. */
const atNode: Record<string, (given: Given) => Promise<unknown>> = {
  verifyPayment: ({ client }) =>
    verifyPayment(client, { payment, expect: expected }),
  'capturePayment, local': ({ client }) =>
    capturePayment(client, { payment, account: local }),
  'capturePayment, local, unrehearsed': ({ client }) =>
    capturePayment(client, {
      payment,
      account: local,
      simulate: false,
      nonce: 900,
      ...fees,
    }),
  'capturePayment, JSON-RPC': ({ client }) =>
    capturePayment(client, { payment, account: remote }),
  'capturePayment, JSON-RPC, unrehearsed': ({ client }) =>
    capturePayment(client, { payment, account: remote, simulate: false }),
  'capturePaymentSync, local': ({ client }) =>
    capturePaymentSync(client, { payment, account: local, ...soon }),
  'capturePaymentSync, JSON-RPC': ({ client }) =>
    capturePaymentSync(client, { payment, account: remote, ...soon }),
  'signCapture, failing': ({ client }) =>
    signCapture(client, { payment, account: local }).then(() => undefined),
  'cancelPayment, local': ({ client }) =>
    cancelPayment(client, { cancellation, account: relayer.account }),
  'cancelPayment, JSON-RPC': ({ client }) =>
    cancelPayment(client, { cancellation, account: remote }),
  'waitForOutcome of a failed transaction': ({ client }) =>
    waitForOutcome(client, { payment: failed, hash: failedHash, ...soon }),
  getPaymentOutcome: ({ client }) => {
    const { signature: _, ...unsigned } = failed
    return getPaymentOutcome(client, { payment: unsigned, hash: failedHash })
  },
}

const rows = Object.entries(atNode).flatMap(([name, run]) =>
  Object.entries(failures).map(
    ([failure, fail]) => [name, failure, run, fail] as const,
  ),
)

test.each(rows)(
  '%s leaks nothing when a node fails with %s',
  async (name, failure, run, fail) => {
    const throws = !failure.endsWith('for an answer')
    let errors = 0
    for (let sound = 0; sound < 7; sound++) {
      let asked = 0
      const { client } = fakeNode(chain, async (sent, forward) =>
        asked++ < sound ? soundly(sent, forward) : fail(sent),
      )
      const result = await run({ client, account: local }).catch(
        (error) => error,
      )
      if (result instanceof Error) {
        expect(result).toBeInstanceOf(CountersignError)
        errors++
      }
      expectNoLeak(result)
    }
    if (throws && name !== 'verifyPayment') expect(errors).toBeGreaterThan(0)
  },
)

/** What a hostile wallet or signer does with what it was given. */
const walletFailures: Record<
  string,
  (sent: unknown, signature: Hex) => unknown
> = {
  'an error that quotes the signature': (_, signature) => {
    throw new Error(`made ${signature}`)
  },
  'an error that carries everything': (sent, signature) => {
    throw Object.assign(new Error('x', { cause: { sent, signature } }), {
      name: `Error ${signature}`,
      code: -32000,
      details: signature,
      data: { sent, signature },
    })
  },
  'a thrown signature': (_, signature) => {
    throw signature
  },
  'a rejection that quotes it': (_, signature) => {
    throw rpcError(4001, `rejected ${signature}`)
  },
  'a signature with more text': (_, signature) => `${signature}zz`,
  'an odd signature': (_, signature) => `${signature}0`,
  'half a signature': (_, signature) => signature.slice(0, 66),
  'a signature without 0x': (_, signature) => signature.slice(2),
  'an object': (_, signature) => ({ signature }),
  'bytes out of range': (_, signature) =>
    `${signature.slice(0, 66)}${'f'.repeat(64)}1b`,
}

/** A JSON.stringify for whatever a signer is given. */
const quote = (value: unknown) =>
  JSON.stringify(value, (_, it) => (typeof it === 'bigint' ? `${it}` : it))

const { signature: _1, ...unsignedPayment } = payment
const { signature: _2, ...unsignedCancellation } = cancellation

const atWallet: Record<
  string,
  (answer: (sent: unknown) => unknown) => Promise<unknown>
> = {
  'signPayment, local': (answer) => {
    const signTypedData = async (sent: unknown) => answer(sent) as Hex
    const account = toAccount({ ...payer.account, signTypedData } as never)
    const wallet = { account, request: async () => '0x7a69' }
    return signPayment(wallet, { payment: unsignedPayment, expect: expected })
  },
  'signPayment, EIP-1193': (answer) =>
    signPayment(
      {
        request: async (sent: Asked) =>
          sent.method === 'eth_chainId' ? '0x7a69' : answer(sent),
      },
      { payment: unsignedPayment, expect: expected },
    ),
  'signCancellation, EIP-1193': (answer) =>
    signCancellation(
      {
        request: async (sent: Asked) =>
          sent.method === 'eth_chainId' ? '0x7a69' : answer(sent),
      },
      {
        cancellation: unsignedCancellation,
        expect: cancelPageOf(unsignedCancellation),
      },
    ),
  'signPayment, chain asked': (answer) =>
    signPayment(
      { request: async (sent: Asked) => answer(sent) },
      { payment: unsignedPayment, expect: expected },
    ),
  'capturePayment, hostile signer': (answer) => {
    const signTransaction = async (sent: unknown) => answer(sent) as Hex
    const account = toAccount({ ...local, signTransaction } as never)
    return capturePayment(reader, { payment, account })
  },
  'cancelPayment, hostile signer': (answer) => {
    const signTransaction = (sent: unknown) => answer(sent) as never
    const account = toAccount({ ...local, signTransaction } as never)
    return cancelPayment(reader, { cancellation, account })
  },
}

const walletRows = Object.entries(atWallet).flatMap(([name, run]) =>
  Object.entries(walletFailures).map(
    ([failure, fail]) => [name, failure, run, fail] as const,
  ),
)

test.each(walletRows)(
  '%s leaks nothing when a wallet gives %s',
  async (_, __, run, fail) => {
    for (const signature of signatures) {
      const answer = (sent: unknown) => fail(quote(sent), signature)
      const error = await run(answer).then(
        () => 'went through',
        (e) => e,
      )
      expectNoLeak(error)
      if (error !== 'went through')
        expect(error).toBeInstanceOf(CountersignError)
    }
  },
)

type Fields = Record<string, unknown>

/** A payment or cancellation with a secret in each wrong place. */
function misplaced(signed: SignedPayment | SignedCancellation): unknown[] {
  const { signature } = signed
  const [r, s] = [slice(signature, 0, 32), slice(signature, 32, 64)]
  const base64 = Buffer.from(r.slice(2), 'hex').toString('base64')
  const values = [signature, r, s, r.slice(2), `${BigInt(r)}`, base64]
  const bad = [
    `${signature}zz`,
    `${signature}0`,
    r,
    { r, s, v: 27 },
    [r, s],
    BigInt(r),
    base64,
  ]
  const put = (value: unknown) => [
    ...Object.keys(signed.message).map((key) => ({
      ...signed,
      message: { ...signed.message, [key]: value },
    })),
    ...Object.keys(signed.domain).map((key) => ({
      ...signed,
      domain: { ...signed.domain, [key]: value },
    })),
    { ...signed, primaryType: value },
    { ...signed, domain: value },
    { ...signed, message: value },
    { ...signed, [String(value)]: 1 },
    { ...signed, r: value },
    value,
  ]
  return [
    ...values.flatMap(put),
    ...bad.map((value) => ({ ...signed, signature: value })),
  ]
}

const atInput: Record<string, (given: never) => unknown> = {
  captureCall: (given) => captureCall({ payment: given }),
  cancelCall: (given) => cancelCall({ cancellation: given }),
  encodePayment: (given) => encodePayment(given),
  decodePayment: (given) => decodePayment(given),
  'decodePayment, text': (given) => decodePayment(`${quote(given)}}`),
  hashPayment: (given) => hashPayment(given),
  paymentTypedData: (given) => paymentTypedData(given),
  buildCancellation: (given) => buildCancellation({ payment: given }),
  explainSignature: (given: Fields) =>
    Object(given).message === payment.message
      ? undefined
      : explainSignature({ payment: given as never }),
  signCancellation: (given) =>
    signCancellation(
      { request: async () => '0x' },
      { cancellation: given, expect: cancelPageOf(unsignedCancellation) },
    ),
  signPayment: (given) =>
    signPayment(
      { request: async () => '0x' },
      { payment: given, expect: expected },
    ),
  verifyPayment: (given) =>
    verifyPayment(reader, { payment: given, expect: expected }),
  capturePayment: (given) => capturePayment(merchant, { payment: given }),
  signCapture: (given) => signCapture(merchant, { payment: given }),
  cancelPayment: (given) => cancelPayment(relayer, { cancellation: given }),
  getPaymentOutcome: (given: Payment) =>
    getPaymentOutcome(reader, { payment: given }),
}

test.each(Object.entries(atInput))(
  '%s leaks nothing when its input is malformed',
  async (_, run) => {
    let errors = 0
    for (const given of [...misplaced(payment), ...misplaced(cancellation)]) {
      const error = await Promise.resolve()
        .then(() => run(given as never))
        .then(
          () => undefined,
          (e) => e,
        )
      if (error === undefined) continue
      errors++
      expectNoLeak(error)
    }
    expect(errors).toBeGreaterThan(50)
  },
)
