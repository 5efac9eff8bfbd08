import {
  cancelPayment,
  capturePayment,
  type SignedPayment,
  signPayment,
  verifyPayment,
} from 'countersign'
import { deployDevContract, startDevChain } from 'countersign/devchain'
import { type Client, createClient, custom, type Hex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { buildCancellation } from '../../../../src/payments/message/buildCancellation.js'
import { compileSolidity } from '../../support/compileSolidity.js'
import {
  cancelOf,
  captureOf,
  draft,
  freshPayer,
  orderOf,
  pageOf,
  tokenOf,
} from '../../support/settle.js'
import { openShop } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: client, merchant } = chain.clients
const usdc = tokenOf(chain)

/** Wallets with a format, or a price of their own. */
const contracts = compileSolidity(`
contract Seal {
    function isValidSignature(bytes32, bytes calldata signature) external pure returns (bytes4) {
        return signature.length == 65 && signature[64] == 0x05 && signature[0] == 0x77
            ? bytes4(0x1626ba7e) : bytes4(0);
    }
}
contract Passkey {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 start = gasleft();
        while (start - gasleft() < 380000) {}
        return 0x1626ba7e;
    }
}`)

async function payWith(
  name: 'Seal' | 'Passkey',
  signature: Hex,
): Promise<SignedPayment> {
  const contract = contracts[name]
  if (!contract) throw new Error(name)
  const from = await deployDevContract(chain, { contract })
  await usdc.mint(from, 10_000_000n)
  return { ...(await draft(chain, usdc, { from })), signature }
}

const seal: Hex = `0x77${'00'.repeat(63)}05`
const long: Hex = `0x${'11'.repeat(70)}`

/** The node without state overrides: it drops what it does not know. */
const plainClient: Client = createClient({
  transport: custom({
    request: ({ method, params = [] }) =>
      client.request({
        method,
        params: method === 'eth_call' ? params.slice(0, 2) : params,
      } as never),
  }),
})

const verdictAt = async (at: Client, payment: SignedPayment) => {
  const verdict = await verifyPayment(at, { payment, expect: orderOf(payment) })
  return verdict.ok ? 'ok' : verdict.reason
}

test.each([
  ['with state overrides', client],
  ['without', plainClient],
])(
  'the 65 bytes of a wallet with a format of its own go to the token as they are, %s',
  async (_, at) => {
    const payment = await payWith('Seal', seal)
    expect(await verdictAt(at, payment)).toBe('ok')
    const other: Hex = `${seal.slice(0, -2) as Hex}06`
    expect(await verdictAt(at, { ...payment, signature: other })).toBe(
      'walletRejects',
    )
    expect(await captureOf(chain, payment)).toBe('captured')
  },
)

test('a page takes such a signature from the wallet, for a payment and for its end', async () => {
  const payment = await payWith('Seal', seal)
  const { from } = payment.message
  const wallet = {
    account: from,
    request: async ({ method }: { method: string }) =>
      method === 'eth_chainId' ? 31337 : seal,
  }
  const page = pageOf(payment)
  const signed = await signPayment(wallet, { payment, expect: page })
  expect(signed.signature).toBe(seal)
  const cancellation = { ...buildCancellation({ payment }), signature: seal }
  expect(await cancelOf(chain, cancellation, payment)).toBe('canceled')
})

test('65 bytes with such a v are malformed for a payer that is a key', async () => {
  const payer = await freshPayer(usdc)
  const payment = await draft(chain, usdc, { from: payer.address })
  const signed = { ...payment, signature: seal }
  expect(await verdictAt(client, signed)).toBe('malformedSignature')
  expect(await verdictAt(plainClient, signed)).toBe('malformedSignature')
  await expect(
    capturePayment(merchant, { payment: signed }),
  ).rejects.toMatchObject({ reason: 'malformedSignature' })
})

test('a payment that is not signed is said to be so before anything is sent', async () => {
  const payer = await freshPayer(usdc)
  const payment = await draft(chain, usdc, { from: payer.address })
  const unsigned = payment as SignedPayment
  await expect(
    capturePayment(merchant, { payment: unsigned }),
  ).rejects.toMatchObject({
    name: 'InvalidFieldError',
    message:
      'payment.signature must be a signature in hex, not undefined. It is not signed.',
  })
  const cancellation = buildCancellation({ payment }) as never
  await expect(cancelPayment(merchant, { cancellation })).rejects.toMatchObject(
    {
      message:
        'cancellation.signature must be a signature in hex, not undefined. It is not signed.',
    },
  )
})

const dear = { maxCaptureGas: 600_000n }

test('a passkey wallet that checks P-256 by itself is paid from, where gas for it is allowed', async () => {
  const payment = await payWith('Passkey', long)
  expect(await verdictAt(client, payment)).toBe('gasTooHigh')
  expect(await verdictAt(plainClient, payment)).toBe('gasTooHigh')
  for (const at of [client, plainClient])
    expect(
      await verifyPayment(at, { payment, expect: orderOf(payment), ...dear }),
    ).toMatchObject({ ok: true })

  await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
    reason: 'gasTooHigh',
  })
  const hash = await capturePayment(merchant, { payment, ...dear })
  const { status, gasUsed } = await client.waitForTransactionReceipt({
    hash,
  })
  expect(status).toBe('success')
  expect(gasUsed).toBeGreaterThan(400_000n)
})

test('orders take and capture such a payment under a policy that allows its gas', async () => {
  const contract = contracts.Passkey
  if (!contract) throw new Error('not compiled')
  const from = await deployDevContract(chain, { contract })
  await usdc.mint(from, 10_000_000n)
  const accept = async (policy: { maxCaptureGas?: bigint }) => {
    const { orders } = await openShop(chain, { policy })
    const { order, payment } = await orders.draft({ amount: '1.25' })
    const signed = {
      ...payment,
      message: { ...payment.message, from },
      signature: long,
    }
    const verdict = await orders.accept({ orderId: order.id, payment: signed })
    return { orders, orderId: order.id, verdict }
  }
  const strict = await accept({})
  expect(strict.verdict).toMatchObject({ ok: false, reason: 'gasTooHigh' })
  await strict.orders.close()

  const { orders, orderId, verdict } = await accept(dear)
  expect(verdict).toMatchObject({ ok: true })
  expect(await orders.capture({ orderId })).toMatchObject({
    status: 'captured',
  })
  await orders.close()
})
