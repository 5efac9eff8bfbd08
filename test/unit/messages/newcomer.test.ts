import {
  decodePayment,
  encodePayment,
  parseAmount,
  signCapture,
  signPayment,
} from 'countersign'
import { createOrders } from 'countersign/orders'
import { createReadClient, watchLogs } from 'countersign/reads'
import { memoryStore } from 'countersign/store'
import { samplePayment } from 'countersign/testing'
import { createClient, custom } from 'viem'
import { base } from 'viem/chains'
import { expect, test } from 'vitest'
import { ClockSkewError } from '../../../src/core/errors.js'
import { messageOf } from './messageOf.js'

const transport = custom({ request: async () => null })
const client = createClient({ chain: base, transport })
const account = '0x1111111111111111111111111111111111111111' as const
const token = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' as const
const orders = {
  store: memoryStore(),
  seal: 'none',
  tokens: [{ client, token }],
  wallets: [createClient({ chain: base, transport, account })],
} as const

/** As JavaScript passes it, where no type is in the way. */
const untyped = (value: unknown): never => value as never

const payment = samplePayment()
const written = JSON.parse(encodePayment(payment))
const expected = {
  chainId: payment.domain.chainId,
  token: payment.domain.verifyingContract,
  to: payment.message.to,
  amount: '12.50',
  maxWindow: 2n ** 60n,
}
const signBy = (wallet: unknown) => () =>
  signPayment(untyped(wallet), { payment, expect: expected })

test.each<[string, () => unknown, string]>([
  [
    'an amount that is a number',
    () => parseAmount(untyped(12.5)),
    "Amount must be a decimal string such as '12.50', above 0 and with at most 6 places, not 12.5 (number).",
  ],
  [
    'an amount in token units',
    () => parseAmount(untyped(12_500_000n)),
    "Amount must be a decimal string such as '12.50', above 0 and with at most 6 places, not 12500000 (bigint).",
  ],
  [
    'no amount',
    () => parseAmount(untyped(undefined)),
    "Amount must be a decimal string such as '12.50', above 0 and with at most 6 places, not undefined.",
  ],
  [
    'decimals that no token has',
    () => parseAmount('1', 300),
    'Amount must be written with 0 to 255 decimals, not 300 (number).',
  ],
  [
    'a payment in JSON with a number as value',
    () =>
      decodePayment({
        ...written,
        message: { ...written.message, value: 1_250_000 },
      }),
    "payment.message.value must be a decimal string such as '1250000', not 1250000 (number).",
  ],
  [
    'a payment in memory that is decoded once more',
    () => decodePayment(payment),
    "payment.message.value must be a decimal string such as '1250000', not 12500000 (bigint).",
  ],
  [
    'a nonce that is too short',
    () =>
      decodePayment({
        ...written,
        message: { ...written.message, nonce: '0x12' },
      }),
    'payment.message.nonce must be 0x and 64 hex digits, not "0x12".',
  ],
  [
    'another type of message',
    () => decodePayment({ ...written, primaryType: 'Permit' }),
    'payment.primaryType must be one of ReceiveWithAuthorization, TransferWithAuthorization, not "Permit".',
  ],
  [
    'no wallets',
    () => createOrders({ ...orders, wallets: [] }),
    'tokens[0].client must be on the chain of a wallet, not 8453 (number). Add a client for chain 8453 to wallets.',
  ],
  [
    'no tokens',
    () => createOrders({ ...orders, tokens: [] }),
    'tokens must be a list with at least one token, not a list of 0.',
  ],
  [
    'a client without a chain',
    () =>
      createOrders({
        ...orders,
        tokens: [{ client: createClient({ transport }), token }],
      }),
    'tokens[0].client must be a viem client with a chain, not an object.',
  ],
  [
    'an address with a wrong checksum',
    () =>
      createOrders({
        ...orders,
        tokens: [
          { client, token: token.replace('833589fC', '833589Fc') as never },
        ],
      }),
    'tokens[0].token must be an address with a right checksum, or all in lower case, not "0x833589FcD6eDb6E08f4c7C32D4f71b54bdA02913". It may be mistyped: copy it again from its source.',
  ],
  [
    'no URL from the environment',
    () => createReadClient(untyped({ url: undefined })),
    'url must be given if transport is left out, not undefined.',
  ],
  [
    'a URL without a protocol, which may hold a key',
    () => createReadClient({ url: 'rpc.example/5ec2e7' }),
    'url must be an http(s) URL, not a string.',
  ],
  [
    'a socket that is no URL',
    () =>
      watchLogs(client, {
        address: token,
        onEvent: () => undefined,
        webSocket: 'rpc.example/5ec2e7',
      }),
    'webSocket must be a ws(s) or http(s) URL, not a string.',
  ],
  [
    'a client without an account',
    () => signCapture(client, untyped({ payment })),
    'The client has no account that can send: pass an account.',
  ],
  [
    'a wallet that is not connected yet',
    signBy(undefined),
    'wallet must be a viem wallet client or an EIP-1193 provider, not undefined. It may not be connected yet.',
  ],
  [
    'a signer of ethers',
    signBy({ signTypedData: async () => '0x', provider: {} }),
    'wallet must be a viem wallet client or an EIP-1193 provider, not an object.',
  ],
  [
    'a wallet that is locked',
    signBy(failing(4100)),
    'The wallet gave no signature: it is locked, or does not share this account.',
  ],
  [
    'a wallet without typed data',
    signBy(failing(-32_601)),
    'The wallet gave no signature: it does not support eth_signTypedData_v4.',
  ],
  [
    'a wallet that answers something else',
    signBy(answering('0x1')),
    'The wallet gave no signature.',
  ],
  [
    'a clock that is off',
    () => {
      throw new ClockSkewError({ chain: 1_795_362_854n, wall: 1_795_362_254n })
    },
    "The chain's clock (1795362854) is 600 seconds ahead of this machine's (1795362254). Check this machine's time, then the node. On your own chain: if you set its clock, set policy.chainClock to 'own' in createOrders, or pass its time as now; the chain ids 31337 and 1337 are exempt.",
  ],
])("a newcomer's mistake is named clearly: %s", async (_, make, message) => {
  expect(await messageOf(make)).toBe(message)
})

/** A wallet on the payment's chain that answers this instead of signing. */
function answering(answer: unknown): unknown {
  return {
    request: async ({ method }: { method: string }) =>
      method === 'eth_chainId' ? payment.domain.chainId : answer,
  }
}

/** A wallet on the payment's chain that fails to sign. */
function failing(code: number): unknown {
  return {
    request: async ({ method }: { method: string }) => {
      if (method === 'eth_chainId') return payment.domain.chainId
      throw Object.assign(new Error('no'), { code })
    },
  }
}
