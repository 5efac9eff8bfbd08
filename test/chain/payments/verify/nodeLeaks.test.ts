import {
  CountersignError,
  cancelPayment,
  capturePayment,
  capturePaymentSync,
  getPaymentOutcome,
  signCapture,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
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
import { expect, test } from 'vitest'
import { type Asked, fakeNode, rpcError } from '../../support/desk.js'
import {
  cancellation,
  chain,
  expected,
  expectNoLeak,
  failed,
  failedHash,
  groupings,
  local,
  merchant,
  payment,
  relayer,
  signatures,
} from '../../support/leakChecks.js'

const grouped = (group: (bytes: Buffer) => string) =>
  signatures
    .map((it) => group(Buffer.from(it.slice(2, 130), 'hex')))
    .map((text) => `[${text}]`)
    .join(' and ')

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
const soon = { timeout: 30, pollingInterval: 5 }
const fees = { maxFeePerGas: 90_000_000_000n, maxPriorityFeePerGas: 1n }
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
