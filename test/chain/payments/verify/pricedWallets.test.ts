import { type SignedPayment, verifyPayment } from 'countersign'
import { deployDevContract, startDevChain } from 'countersign/devchain'
import { type Client, concatHex, createClient, custom, type Hex } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { buildCancellation } from '../../../../src/payments/message/buildCancellation.js'
import {
  rehearseCancel,
  rehearseCapture,
} from '../../../../src/payments/verify/rehearse.js'
import { compileSolidity } from '../../support/compileSolidity.js'
import { draft, freshPayer, orderOf, tokenOf } from '../../support/settle.js'
import { account, sign } from '../../support/signing.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: client, relayer, test: control } = chain.clients
const usdc = tokenOf(chain)

/** Wallets that judge a signature by the price or the amount of gas. */
const contracts = compileSolidity(`
contract Refuses {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        return tx.gasprice == 0 ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}
contract Explains {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        require(tx.gasprice == 0, "gas must be free");
        return 0x1626ba7e;
    }
}
contract Reverts {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        if (tx.gasprice > 0) revert();
        return 0x1626ba7e;
    }
}
contract Burns {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        if (tx.gasprice > 0) assembly { invalid() }
        return 0x1626ba7e;
    }
}
contract Works {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 start = gasleft();
        while (start - gasleft() < 380000) {}
        return 0x1626ba7e;
    }
}
contract Hoards {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        return gasleft() > 400000 ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}`)
type Wallet = 'Refuses' | 'Explains' | 'Reverts' | 'Burns' | 'Works' | 'Hoards'

/** Any: these wallets do not read it. */
const signature: Hex = `0x${'11'.repeat(70)}`

let proxies = 0

/** The wallet, or a minimal proxy (EIP-1167) for it. */
async function payFrom(
  name: Wallet,
  { behindProxy = false } = {},
): Promise<SignedPayment> {
  const contract = contracts[name]
  if (!contract) throw new Error(`${name} is not compiled.`)
  let from = await deployDevContract(chain, { contract })
  if (behindProxy) {
    const bytecode = concatHex([
      '0x363d3d373d3d3d363d73',
      from,
      '0x5af43d82803e903d91602b57fd5bf3',
    ])
    from = account(`proxy ${proxies++}`).address
    await control.setCode({ address: from, bytecode })
  }
  await usdc.mint(from, 10_000_000n)
  const payment = await draft(chain, usdc, { from })
  return { ...payment, signature }
}

type Request = { method: string; params?: readonly unknown[] }

/** A node without state overrides: it drops what it does not know. */
function plainNode(): { client: Client; asked: unknown[] } {
  const asked: unknown[] = []
  const request = ({ method, params = [] }: Request) => {
    const isPlayed = method === 'eth_call'
    const sent = { method, params: isPlayed ? params.slice(0, 2) : params }
    // The attempt with an override is answered as if there were none.
    if (params.length < 3) asked.push(params)
    return client.request(sent as never)
  }
  return { client: createClient({ transport: custom({ request }) }), asked }
}

async function reasonAt(at: Client, payment: SignedPayment) {
  const verdict = await verifyPayment(at, { payment, expect: orderOf(payment) })
  return verdict.ok ? 'ok' : verdict.reason
}

test.each([
  ['refuses a gas price', 'Refuses', 'walletRejects'],
  ['refuses a gas price with an error', 'Explains', 'walletRejects'],
  ['refuses a gas price without a word', 'Reverts', 'walletRejects'],
  ['refuses for how much gas is left', 'Hoards', 'walletRejects'],
  ['burns all gas at a gas price', 'Burns', 'gasTooHigh'],
  ['needs more gas than allowed', 'Works', 'gasTooHigh'],
] as const)(
  'a wallet that %s has the same reason with state overrides and without',
  async (_, name, reason) => {
    for (const behindProxy of [false, true]) {
      const payment = await payFrom(name, { behindProxy })
      expect(await reasonAt(client, payment)).toBe(reason)
      expect(await reasonAt(plainNode().client, payment)).toBe(reason)
    }
  },
)

test('a cancellation is rehearsed at a gas price without state overrides too', async () => {
  const payment = await payFrom('Refuses')
  const cancellation = { ...buildCancellation({ payment }), signature }
  const reasonOf = async (at: Client) => {
    const origin = relayer.account.address
    const rehearsal = await rehearseCancel(at, cancellation, { origin })
    return rehearsal.ok ? 'ok' : rehearsal.reason
  }
  expect(await reasonOf(client)).toBe('walletRejects')
  expect(await reasonOf(plainNode().client)).toBe('walletRejects')
})

test('a Transfer payment is rehearsed at a gas price even if its recipient has no native coin', async () => {
  const to = account('recipient without native coin').address
  const { from } = (await payFrom('Refuses')).message
  for (const [primaryType, plainReason] of [
    ['TransferWithAuthorization', 'walletRejects'],
    // Only its recipient may send it, and that account cannot.
    ['ReceiveWithAuthorization', 'ok'],
  ] as const) {
    const payment = await draft(chain, usdc, { from, to, primaryType })
    const signed = { ...payment, signature }
    const reasonOf = async (at: Client) => {
      const origin = relayer.account.address
      const rehearsal = await rehearseCapture(at, signed, { origin })
      return rehearsal.ok ? 'ok' : rehearsal.reason
    }
    expect(await reasonOf(client)).toBe('walletRejects')
    expect(await reasonOf(plainNode().client)).toBe(plainReason)
  }
})

test('only a refused capture is asked for more than once', async () => {
  const payer = await freshPayer(usdc)
  const payment = await draft(chain, usdc, { from: payer.address })
  const own = await sign(payer, payment)
  const timesPlayed = async (signed: SignedPayment) => {
    const { client: node, asked } = plainNode()
    await reasonAt(node, signed)
    const holds = (params: unknown) =>
      JSON.stringify(params).includes(signed.signature.slice(2, 66))
    return asked.filter(holds).length
  }
  expect(await timesPlayed({ ...payment, signature: own })).toBe(1)
  const other = await sign(account('stranger'), payment)
  expect(await timesPlayed({ ...payment, signature: other })).toBe(2)
  expect(await timesPlayed(await payFrom('Refuses'))).toBe(3)
})
