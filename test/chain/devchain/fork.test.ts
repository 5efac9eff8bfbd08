import {
  buildCancellation,
  capturePayment,
  DomainMismatchError,
  getToken,
  type Payment,
  preparePayment,
  type SignedPayment,
  signCancellation,
  signPayment,
} from 'countersign'
import {
  DevTokenNotFoundError,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import { createClient, http } from 'viem'
import { readContract } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { hashDomain } from '../../../src/core/hashPayment.js'
import { startLiveChain } from '../support/liveChain.js'
import {
  balanceOf,
  cancelOf,
  cancelPageOf,
  captureOf,
  freshPayer,
  pageOf,
  type SettlingChain,
  tokenOf,
  verdictOf,
} from '../support/settle.js'

const live = await startLiveChain()
afterAll(() => live.stop())
const fork = await startDevChain({ forkUrl: live.urls.http })
afterAll(() => fork.stop())
const oldLive = await startLiveChain(devContracts.fiatTokenV2_1)
afterAll(() => oldLive.stop())
const oldFork = await startDevChain({
  forkUrl: oldLive.urls.http,
  blockTime: 0,
})
afterAll(() => oldFork.stop())

type Chain = SettlingChain

function prepare(
  { clients, token }: Chain,
  primaryType?: Payment['primaryType'],
): Promise<Payment> {
  return preparePayment(clients.public, {
    token,
    from: clients.payer.account.address,
    to: clients.merchant.account.address,
    amount: '1.25',
    primaryType,
  })
}

function signWith(
  { clients }: Chain,
  payment: Payment,
): Promise<SignedPayment> {
  return signPayment(clients.payer, { payment, expect: pageOf(payment) })
}

test('a fork keeps the balances of the live chain and mints through the real minter', async () => {
  const holder = live.clients.payer.account.address
  const { address } = await freshPayer(tokenOf(fork), 7n)

  expect(await balanceOf(live, live.token, holder)).toBe(10_000_000_000n)
  expect(await balanceOf(fork, fork.token, holder)).toBe(20_000_000_000n)
  expect(await balanceOf(fork, fork.token, address)).toBe(7n)
  expect(await balanceOf(live, live.token, address)).toBe(0n)
})

test('a fork runs under the development chain id, and the domain follows', async () => {
  const { domain } = await getToken(fork.clients.public, { token: fork.token })

  expect(await fork.clients.public.getChainId()).toBe(31337)
  expect(domain).toEqual(tokenOf(fork).domain)
  expect(await separatorOf(fork)).toBe(hashDomain(domain))
  expect(await separatorOf(live)).toBe(hashDomain(tokenOf(live).domain))
})

test.each(['ReceiveWithAuthorization', 'TransferWithAuthorization'] as const)(
  '%s goes from build to proof on a fork, and leaves the live chain alone',
  async (primaryType) => {
    const before = await balanceOf(live, live.token, merchantOf(live))
    const signed = await signWith(fork, await prepare(fork, primaryType))

    expect(await verdictOf(fork, signed)).toBe('ok')
    expect(await captureOf(fork, signed)).toBe('captured')
    expect(await balanceOf(live, live.token, merchantOf(live))).toBe(before)
  },
)

test('a payment is canceled on a fork', async () => {
  const payment = await prepare(fork)
  const unsigned = buildCancellation({ payment })
  const cancellation = await signCancellation(fork.clients.payer, {
    cancellation: unsigned,
    expect: cancelPageOf(unsigned),
  })

  expect(await cancelOf(fork, cancellation, payment)).toBe('canceled')
})

test('what is signed on a fork is worthless on the live chain, and the reverse', async () => {
  const forked = await signWith(fork, await prepare(fork))
  const real = await signWith(live, await prepare(live))

  expect(await verdictOf(live, forked)).toBe('wrongChain')
  expect(await captureOf(live, forked)).toBe('wrongChain')
  expect(await captureOf(live, retold(forked, live))).toBe('wrongSigner')
  expect(await verdictOf(fork, real)).toBe('wrongChain')
  expect(await captureOf(fork, retold(real, fork))).toBe('wrongSigner')
})

/** The payment as somebody tells it on another chain, with that one's id. */
function retold(payment: SignedPayment, { chain }: Chain): SignedPayment {
  return { ...payment, domain: { ...payment.domain, chainId: chain.id } }
}

test('a fork of a token whose separator is fixed has no domain of its own, so none is given', async () => {
  const { clients, token } = oldFork
  const refused = await getToken(clients.public, { token }).catch(
    (error: unknown) => error,
  )

  expect(refused).toBeInstanceOf(DomainMismatchError)
  expect(refused).toMatchObject({
    details: { onChain: hashDomain(tokenOf(oldLive).domain) },
  })
  await expect(prepare(oldFork)).rejects.toThrow(DomainMismatchError)
})

test('there, a signature for the development chain id is refused for its domain', async () => {
  const signed = await signWith(oldFork, {
    ...(await prepare(oldLive)),
    domain: tokenOf(oldFork).domain,
  })

  expect(await verdictOf(oldFork, signed)).toBe('wrongDomain')
  expect(await captureOf(oldFork, signed)).toBe('wrongDomain')
  expect(await captureOf(oldLive, retold(signed, oldLive))).toBe('wrongSigner')
})

test('there, the signature the fork would take is money on the live chain, so it is refused', async () => {
  const signed = await signWith(oldLive, await prepare(oldLive))
  const chainless = createClient({ transport: http(oldFork.urls.http) })
  const account = oldFork.clients.merchant.account

  expect(await verdictOf(oldFork, signed)).toBe('wrongChain')
  await expect(
    capturePayment(chainless, { payment: signed, account }),
  ).rejects.toMatchObject({ reason: 'wrongChain' })
  expect(await captureOf(oldLive, signed)).toBe('captured')
})

test('a fork of a chain without the token of the network is refused', async () => {
  const forkUrl = live.urls.http
  await expect(startDevChain({ forkUrl, network: 'polygon' })).rejects.toThrow(
    DevTokenNotFoundError,
  )
})

function separatorOf({ clients, token }: Chain): Promise<unknown> {
  return readContract(clients.public, {
    address: token,
    abi: devContracts.fiatTokenV2_2.abi,
    functionName: 'DOMAIN_SEPARATOR',
  })
}

const merchantOf = ({ clients }: Chain) => clients.merchant.account.address
