import { decodePayment, type SignedPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import {
  createPaymentHandler,
  type PaymentHandler,
  type PaymentHandlerParameters,
} from 'countersign/http'
import type { DraftedPayment } from 'countersign/orders'
import type { Hex, PrivateKeyAccount } from 'viem'
import { expect } from 'vitest'
import { toJson } from '../../../src/core/toJson.js'
import { fundedAccount } from './desk.js'
import { checkAnswer, readContract } from './httpContract.js'
import { findSecrets, secretForms } from './secretForms.js'
import { openShop, pay, type Shop } from './shop.js'

type Answer<body> = {
  status: number
  headers: Headers
  text: string
  body: body
}

type Ask = <body = Record<string, unknown>>(
  request: string,
  options?: {
    token?: string | undefined
    headers?: Record<string, string>
    body?: unknown
  },
) => Promise<Answer<body>>

export type HttpDesk = Shop & {
  handle: PaymentHandler
  /** Sends `'POST /orders/1/payment'`; each answer is held to the document. */
  ask: Ask
  /** All that was answered so far, heads included. */
  told: string[]
}

const base = 'https://shop.test/payments'

/** A shop behind a handler, asked as over the network. */
export async function openDesk(
  chain: DevChain,
  {
    handler,
    ...changes
  }: Parameters<typeof openShop>[1] & {
    handler?: Partial<PaymentHandlerParameters> | undefined
  } = {},
): Promise<HttpDesk> {
  const shop = await openShop(chain, changes)
  const handle = createPaymentHandler(shop.orders, {
    basePath: '/payments',
    authorize: () => ({ recipients: [shop.seller] }),
    ...handler,
  })
  const contract = await readContract(handle, base)
  const told: string[] = []
  const ask: Ask = async (request, { token, headers, body } = {}) => {
    const [method = '', path = ''] = request.split(' ')
    const response = await handle(
      new Request(`${base}${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: toJson(body) }),
      }),
    )
    const text = await response.text()
    told.push(JSON.stringify([...response.headers]), text)
    const { status, headers: sent } = response
    const answer = { status, type: sent.get('content-type'), body: read(text) }
    expect([request, checkAnswer(contract, { method, path }, answer)]).toEqual([
      request,
      undefined,
    ])
    return { status, headers: sent, text, body: JSON.parse(text) }
  }
  return { ...shop, handle, ask, told }
}

function read(text: string): unknown {
  return JSON.parse(text)
}

export type Drafted = {
  order: { id: string; validBefore: string }
  payment: DraftedPayment
  buyerToken: string
}

/** An order drafted over HTTP, with what its buyer signs. */
export async function sell(
  chain: DevChain,
  { ask }: Pick<HttpDesk, 'ask'>,
  draft: Record<string, unknown> = {},
): Promise<{
  id: string
  token: string
  buyer: PrivateKeyAccount
  signed: SignedPayment
  payment: DraftedPayment
}> {
  const { status, body } = await ask<Drafted>('POST /merchant/orders', {
    body: { amount: '12.50', ...draft },
  })
  expect(status).toBe(201)
  const { order, payment, buyerToken } = body
  const buyer = await fundedAccount(chain, 12_500_000n)
  const signed = await signAs(buyer, payment)
  return { id: order.id, token: buyerToken, buyer, signed, payment }
}

/** What the buyer's page makes of the payment it was given. */
export function signAs(
  buyer: PrivateKeyAccount,
  payment: DraftedPayment,
): Promise<SignedPayment> {
  const message = { ...payment.message, from: buyer.address }
  return pay(buyer, decodePayment(toJson({ ...payment, message })))
}

/** The same, and the payment handed in. */
export async function sellPaid(
  chain: DevChain,
  desk: Pick<HttpDesk, 'ask'>,
  draft: Record<string, unknown> = {},
): ReturnType<typeof sell> {
  const sold = await sell(chain, desk, draft)
  const { id, token, signed } = sold
  const { status } = await desk.ask(`POST /orders/${id}/payment`, {
    token,
    body: signed,
  })
  expect(status).toBe(200)
  return sold
}

/** Which of these signatures was told to anyone, in any form. */
export function leaked(
  told: readonly string[],
  signatures: readonly Hex[],
): string[] {
  const forms = signatures.flatMap(secretForms)
  return findSecrets(Buffer.from(told.join('\n')), forms)
}
