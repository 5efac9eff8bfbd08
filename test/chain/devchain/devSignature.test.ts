import {
  buildCancellation,
  cancelCall,
  captureCall,
  explainSignature,
  hashPayment,
  knownTokens,
  type Payment,
  preparePayment,
  type SignedPayment,
  signCancellation,
  signPayment,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { createClient, custom, http, recoverAddress } from 'viem'
import { sendTransactionSync } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { hashDomain } from '../../../src/core/hashPayment.js'
import { startLiveChain } from '../support/liveChain.js'
import {
  cancelOf,
  cancelPageOf,
  captureOf,
  pageOf,
  type SettlingChain,
  verdictOf,
} from '../support/settle.js'

// The same keys, token address and name: only the chain id tells them apart.
const development = await startDevChain({ blockTime: 0 })
afterAll(() => development.stop())
const real = await startLiveChain()
afterAll(() => real.stop())

const pairs: readonly (readonly [string, SettlingChain, SettlingChain])[] = [
  ['a development signature', development, real],
  ['a real signature', real, development],
]
const primaryTypes = [
  'ReceiveWithAuthorization',
  'TransferWithAuthorization',
] as const
const cases = pairs.flatMap(([name, home, abroad]) =>
  primaryTypes.map((primaryType) => ({ name, primaryType, home, abroad })),
)

async function signAt(
  { clients, token }: SettlingChain,
  primaryType?: Payment['primaryType'],
): Promise<SignedPayment> {
  const payment = await preparePayment(clients.public, {
    token,
    from: clients.payer.account.address,
    to: clients.merchant.account.address,
    amount: '1.25',
    primaryType,
  })
  return signPayment(clients.payer, { payment, expect: pageOf(payment) })
}

function underChainId(
  payment: SignedPayment,
  { chain }: SettlingChain,
): SignedPayment {
  return { ...payment, domain: { ...payment.domain, chainId: chain.id } }
}

test.each(cases)(
  '$name ($primaryType) is refused elsewhere as it is',
  async ({ primaryType, home, abroad }) => {
    const payment = await signAt(home, primaryType)

    expect(await verdictOf(abroad, payment)).toBe('wrongChain')
    expect(await captureOf(abroad, payment)).toBe('wrongChain')
  },
)

test.each(cases)(
  '$name ($primaryType) is refused elsewhere under the other chain id',
  async ({ primaryType, home, abroad }) => {
    const payment = underChainId(await signAt(home, primaryType), abroad)

    expect(await verdictOf(abroad, payment)).toBe('wrongSigner')
    expect(await captureOf(abroad, payment)).toBe('wrongSigner')
    expect(
      await recoverAddress({ ...payment, hash: hashPayment(payment) }),
    ).not.toBe(home.clients.payer.account.address)
  },
)

test.each(cases)(
  '$name ($primaryType) is refused by the token elsewhere, whoever sends it',
  async ({ primaryType, home, abroad }) => {
    const { to, data } = captureCall({
      payment: await signAt(home, primaryType),
    })
    const send = { to, data, gas: 200_000n, throwOnReceiptRevert: false }

    expect(
      await sendTransactionSync(abroad.clients.merchant, send),
    ).toMatchObject({ status: 'reverted' })
  },
)

test.each(cases)(
  '$name ($primaryType) settles at home, before and after',
  async ({ primaryType, home }) => {
    const payment = await signAt(home, primaryType)

    expect(await verdictOf(home, payment)).toBe('ok')
    expect(await captureOf(home, payment)).toBe('captured')
  },
)

test.each(cases)(
  '$name ($primaryType) is explained by its chain id',
  async ({ primaryType, home, abroad }) => {
    const payment = underChainId(await signAt(home, primaryType), abroad)

    expect(await explainSignature({ payment })).toMatchObject({
      found: true,
      differences: [
        {
          field: 'chainId',
          signed: home.chain.id,
          presented: abroad.chain.id,
        },
      ],
    })
  },
)

test.each(pairs)(
  'the cancellation that goes with %s cancels nothing elsewhere',
  async (_, home, abroad) => {
    const payment = await signAt(abroad)
    const unsigned = buildCancellation({ payment: underChainId(payment, home) })
    const cancellation = await signCancellation(home.clients.payer, {
      cancellation: unsigned,
      expect: cancelPageOf(unsigned),
    })
    const { to, data } = cancelCall({ cancellation })
    const send = { to, data, gas: 200_000n, throwOnReceiptRevert: false }

    expect(await cancelOf(abroad, cancellation, payment)).toBe('wrongChain')
    expect(
      await sendTransactionSync(abroad.clients.relayer, send),
    ).toMatchObject({ status: 'reverted' })
    expect(await captureOf(abroad, payment)).toBe('captured')
  },
)

test.each(pairs)(
  'a client that names no chain is told by the node that %s is elsewhere',
  async (_, home, abroad) => {
    const payment = await signAt(home)
    const client = createClient({
      transport: http(abroad.chain.rpcUrls.default.http[0]),
    })

    expect(await verdictOf({ clients: { public: client } }, payment)).toBe(
      'wrongChain',
    )
  },
)

test('a wallet on a development chain is not asked to sign for a real one', async () => {
  const { payer } = development.clients
  const asked: string[] = []
  const wallet = createClient({
    account: payer.account.address,
    transport: custom({
      request: (args) => {
        asked.push(args.method)
        return payer.request(args)
      },
    }),
  })
  const { signature: _, ...payment } = await signAt(real)

  await expect(
    signPayment(wallet, { payment, expect: pageOf(payment) }),
  ).rejects.toMatchObject({ name: 'WrongWalletError' })
  expect(asked).toEqual(['eth_chainId'])
})

test('no known token has the separator of a development chain', () => {
  const separators = knownTokens.flatMap(
    ({ address, name, version, chainId }) =>
      [chainId, 31337].map((chainId) =>
        hashDomain({ name, version, chainId, verifyingContract: address }),
      ),
  )

  expect(new Set(separators).size).toBe(2 * knownTokens.length)
})
