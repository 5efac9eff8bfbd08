import {
  CountersignError,
  cancelPayment,
  capturePayment,
  signCancellation,
  signPayment,
} from 'countersign'
import type { Hex } from 'viem'
import { toAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { type Asked, rpcError } from '../../../chain/support/desk.js'
import {
  cancellation,
  expected,
  expectNoLeak,
  local,
  payer,
  payment,
  quote,
  reader,
  signatures,
  unsignedCancellation,
} from '../../../chain/support/leakChecks.js'
import { cancelPageOf } from '../../../chain/support/settle.js'

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

const { signature: _1, ...unsignedPayment } = payment

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
