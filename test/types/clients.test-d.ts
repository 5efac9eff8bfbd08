import {
  type CancelPaymentParameters,
  type CapturePaymentParameters,
  cancelCall,
  cancelPayment,
  captureCall,
  capturePayment,
  capturePaymentSync,
  explainSignature,
  type GetAuthorizationStateParameters,
  type GetPaymentOutcomeParameters,
  getAuthorizationState,
  getPaymentOutcome,
  getToken,
  type PreparePaymentParameters,
  preparePayment,
  type SignCancellationParameters,
  type SignCaptureParameters,
  type SignedCancellation,
  type SignedPayment,
  type SignPaymentParameters,
  signCancellation,
  signCapture,
  signPayment,
  type VerifyPaymentParameters,
  verifyPayment,
  type WaitForOutcomeParameters,
  waitForOutcome,
} from 'countersign'
import {
  type Address,
  createClient,
  createPublicClient,
  createTestClient,
  createWalletClient,
  custom,
  type EIP1193Provider,
  http,
  publicActions,
  type WalletClient,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  sendCalls,
  sendTransaction,
  simulateContract,
  writeContract,
} from 'viem/actions'
import { base, celo, optimism } from 'viem/chains'
import { expectTypeOf, test } from 'vitest'

const transport = http()
const account = privateKeyToAccount(`0x${'1'.repeat(64)}`)
declare const address: Address
declare const provider: EIP1193Provider

/** Every shape of client viem's users hold. */
const clients = [
  createClient({ transport }),
  createClient({ transport, chain: base, account }),
  createPublicClient({ transport }),
  createPublicClient({ transport, chain: base }),
  createPublicClient({ transport, chain: celo }),
  createPublicClient({
    transport,
    chain: optimism,
    batch: { multicall: true },
  }),
  createWalletClient({ transport }),
  createWalletClient({ transport, chain: base, account }),
  createWalletClient({ transport, chain: base, account: address }),
  createWalletClient({ transport: custom(provider) }),
  createWalletClient({ transport, chain: base }).extend(publicActions),
  createTestClient({ transport, mode: 'anvil' }),
] as const

declare const parameters: {
  prepare: PreparePaymentParameters
  verify: VerifyPaymentParameters
  capture: CapturePaymentParameters
  sign: SignCaptureParameters
  cancel: CancelPaymentParameters
  wait: WaitForOutcomeParameters
  outcome: GetPaymentOutcomeParameters
  state: GetAuthorizationStateParameters
}

test('every function takes every client', () => {
  for (const client of clients) {
    preparePayment(client, parameters.prepare)
    verifyPayment(client, parameters.verify)
    capturePayment(client, parameters.capture)
    capturePaymentSync(client, parameters.capture)
    signCapture(client, parameters.sign)
    cancelPayment(client, parameters.cancel)
    waitForOutcome(client, parameters.wait)
    getPaymentOutcome(client, parameters.outcome)
    getAuthorizationState(client, parameters.state)
    getToken(client, { token: address })
  }
})

declare const signing: SignPaymentParameters
declare const revoking: SignCancellationParameters

test('everything that can sign is a wallet', () => {
  for (const client of clients) signPayment(client, signing)
  for (const client of clients) signCancellation(client, revoking)
  signPayment(provider, signing)
  signCancellation(provider, revoking)
  signPayment({ request: async () => null }, signing)
  signPayment(
    { request: async (_: { method: string; params?: unknown }) => null },
    signing,
  )
  signPayment({ request: async () => null, account }, signing)
  signPayment({ request: async () => null, account: address }, signing)
  // @ts-expect-error
  signPayment({}, signing)
  // @ts-expect-error
  signPayment(account, signing)
  // @ts-expect-error
  signPayment(provider, { payment: signing.payment })
})

test('what the functions give is what their names say', () => {
  const [client] = clients
  expectTypeOf(
    signPayment(provider, signing),
  ).resolves.toEqualTypeOf<SignedPayment>()
  expectTypeOf(
    signCancellation(provider, revoking),
  ).resolves.toEqualTypeOf<SignedCancellation>()
  expectTypeOf(
    capturePayment(client, parameters.capture),
  ).resolves.toEqualTypeOf<Address>()
  expectTypeOf(signCapture(client, parameters.sign)).resolves.toExtend<{
    hash: Address
    raw: Address
    nonce: number
  }>()
})

declare const payment: SignedPayment
declare const cancellation: SignedCancellation
declare const wallet: WalletClient

test("a call fits viem's ways to send it", () => {
  for (const call of [captureCall({ payment }), cancelCall({ cancellation })]) {
    writeContract(wallet, { ...call, account, chain: base })
    wallet.writeContract({ ...call, account, chain: null })
    simulateContract(clients[3], { ...call, account })
    sendTransaction(wallet, {
      to: call.to,
      data: call.data,
      account,
      chain: base,
    })
    sendCalls(wallet, { account, calls: [call] })
    sendCalls(wallet, { account, calls: [{ to: call.to, data: call.data }] })
  }
})

test('a verdict is branched on by its reason', async () => {
  const verdict = await verifyPayment(clients[0], parameters.verify)
  if (verdict.ok) {
    expectTypeOf(verdict.at.block).toEqualTypeOf<bigint>()
    // @ts-expect-error
    verdict.reason
    return
  }
  expectTypeOf(verdict.reason).toExtend<string>()
  // @ts-expect-error
  if (verdict.reason === 'tooLate') return
})

test('an outcome is branched on by its status', async () => {
  const outcome = await getPaymentOutcome(clients[0], parameters.outcome)
  if (outcome.status === 'captured')
    expectTypeOf(outcome.proof.transactionHash).toEqualTypeOf<Address>()
  // @ts-expect-error
  if (outcome.status === 'unused') outcome.proof
})

test('an explanation is branched on by what was found', async () => {
  const explanation = await explainSignature({ payment })
  if (explanation.found)
    expectTypeOf(explanation.differences).toExtend<readonly object[]>()
  // @ts-expect-error
  else explanation.differences
})
