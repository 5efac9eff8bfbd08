import type { Address } from 'viem'
import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import type { Answers } from '../http/schemas/answerTypes.js'
import { decodePayment } from '../payments/message/codec.js'
import { eip3009Signing } from '../payments/message/kind.js'
import { requestAccount } from '../payments/sign/requestAccount.js'
import { signCancellation } from '../payments/sign/signCancellation.js'
import { signPayment } from '../payments/sign/signPayment.js'
import { ask, readAnswer } from './ask.js'
import type {
  AbortOptions,
  BuyerClient,
  BuyerNews,
  FollowOrderParameters,
  PaymentOptions,
} from './BuyerClient.js'
import { followStream } from './followStream.js'
import {
  type ConnectionParameters,
  connectionMembers,
  type Line,
  openLine,
  parseHeader,
  parseText,
} from './line.js'

/** Parameters of {@link createBuyerClient}. */
export type CreateBuyerClientParameters = ConnectionParameters & {
  orderId: string
  /**
   * The secret token of the order, from the result of `draft`. It gives all
   * rights of the buyer.
   */
  buyerToken: string
}

const members: MembersOf<CreateBuyerClientParameters> = {
  ...connectionMembers,
  orderId: true,
  buyerToken: true,
}

/**
 * Creates a client for the buyer of one order, for pages and programs. It talks
 * to the routes of `countersign/http`. It has no state beside its parameters.
 *
 * It sends no transaction, and holds no key: the wallet signs.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import type { Wallet } from 'countersign'
 * import { createBuyerClient } from 'countersign/client'
 *
 * export async function buy(wallet: Wallet, orderId: string, buyerToken: string) {
 *   const buyer = createBuyerClient({ url: '/payments', orderId, buyerToken })
 *   await buyer.pay(wallet, {
 *     expect: {
 *       chainId: 8453,
 *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *       to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *       amount: '12.50',
 *     },
 *   })
 *   for await (const { order } of buyer.follow()) console.log(order.state)
 * }
 * ```
 */
export function createBuyerClient(
  parameters: CreateBuyerClientParameters,
): BuyerClient {
  checkMembers(parameters, members)
  const { orderId, buyerToken, ...connection } = parameters
  const line = openLine(connection, parseHeader(buyerToken, 'buyerToken'))
  const path = `/orders/${encodeURIComponent(parseText(orderId, 'orderId'))}`
  const request = <answer>(
    place: '' | '/payment' | '/cancellation',
    { signal }: AbortOptions = {},
    body?: object,
  ) => ask<answer>(line, { path: path + place, body, signal })

  const getPayment = async (
    { kind, signal }: PaymentOptions,
    getPayer: () => Promise<Address>,
  ) => {
    type Drafted = Answers['PaymentToSign']
    const { payment } = await request<Drafted>('/payment', { signal })
    const drafted = Object(payment).message
    // If the order names no payer, the account of the caller or of the wallet
    // pays.
    const from = Object(drafted).from ?? (await getPayer())
    const whole = { ...payment, message: { ...drafted, from } }
    return kind ? kind.decode(whole) : decodePayment(whole)
  }

  const client: BuyerClient = {
    get: (options) => request('', options),
    requestPayment: ({ payer, ...options }) =>
      getPayment(options, async () => payer),
    sendPayment: (payment, { kind = eip3009Signing, ...options } = {}) =>
      request('/payment', options, kind.parse(payment)),
    pay: async (wallet, { expect, payer, ...options }) => {
      const { kind, signal } = options
      const getPayer = async () => payer ?? requestAccount(wallet, signal)
      const payment = await getPayment(options, getPayer)
      const signed = await signPayment(wallet, {
        payment,
        expect,
        kind,
        signal,
      })
      return client.sendPayment(signed, options)
    },
    follow: (options) => followOrder(line, `${path}/events`, options),
    cancellationToSign: async (options) => {
      type Asked = Answers['CancellationToSign']
      return (await request<Asked>('/cancellation', options)).cancellation
    },
    sendCancellation: (cancellation, options) =>
      request('/cancellation', options, cancellation),
    cancel: async (wallet, { expect, ...options }) => {
      const cancellation = await client.cancellationToSign(options)
      const signed = await signCancellation(wallet, {
        cancellation,
        expect,
        signal: options.signal,
      })
      return client.sendCancellation(signed, options)
    },
  }
  return client
}

async function* followOrder(
  line: Line,
  path: string,
  { until = [], ...following }: FollowOrderParameters = {},
): AsyncGenerator<BuyerNews, void> {
  const messages = followStream<BuyerNews>(line, path, following)
  for await (const { id = '', data } of messages) {
    const isLast = readAnswer(line, path, () =>
      until.includes(data.order.state),
    )
    yield { ...data, id }
    if (isLast) return
  }
}
