import { getToken, type SignedPayment } from 'countersign'
import {
  deployDevContract,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import type { Abi, Address } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { devAuthority } from '../../../../src/devchain/initializeToken.js'
import { sendAs } from '../../../../src/devchain/sendAs.js'
import { compileSolidity } from '../../support/compileSolidity.js'
import { domainOf, draft, newAccount } from '../../support/desk.js'
import { captureOf, verdictOf } from '../../support/settle.js'

/** As in front of the real USDC (EIP-1967). */
const source = `
contract Proxy {
  bytes32 constant slot = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

  constructor(address implementation) {
    upgradeTo(implementation);
  }

  function upgradeTo(address implementation) public {
    assembly { sstore(slot, implementation) }
  }

  fallback() external {
    assembly {
      calldatacopy(0, 0, calldatasize())
      let ok := delegatecall(gas(), sload(slot), 0, calldatasize(), 0, 0)
      returndatacopy(0, 0, returndatasize())
      if ok { return(0, returndatasize()) }
      revert(0, returndatasize())
    }
  }
}`

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { Proxy: proxy } = compileSolidity(source)
const { fiatTokenV2_0, fiatTokenV2_1, fiatTokenV2_2 } = devContracts
const implementations = {
  circle20: await deployDevContract(chain, { contract: fiatTokenV2_0 }),
  circle21: await deployDevContract(chain, { contract: fiatTokenV2_1 }),
  circle22: await deployDevContract(chain, { contract: fiatTokenV2_2 }),
}
type Version = keyof typeof implementations

const send = (
  address: Address,
  abi: Abi,
  [name, ...args]: [string, ...unknown[]],
) =>
  sendAs(chain.clients, {
    from: devAuthority,
    calls: [{ address, abi, functionName: name, args }],
  })

async function deployToken(version: Version): Promise<Address> {
  if (!proxy) throw new Error('not compiled')
  const token = await deployDevContract(chain, {
    contract: proxy,
    args: [implementations[version]],
  })
  const roles = Array.from({ length: 4 }, () => devAuthority)
  const names = ['USD Coin', 'USDC', 'USD', 6]
  await send(token, fiatTokenV2_2.abi, ['initialize', ...names, ...roles])
  return token
}

async function upgrade(token: Address, version: Version): Promise<void> {
  if (proxy)
    await send(token, proxy.abi, ['upgradeTo', implementations[version]])
}

async function pay(
  token: Address,
  primaryType: SignedPayment['primaryType'],
): Promise<SignedPayment> {
  const signer = newAccount()
  await chain.mint({ to: signer.address, value: 12_500_000n, token })
  return draft(chain, { domain: domainOf(token), signer, primaryType })
}

test.each([
  ['circle20', 'unsupportedToken'],
  ['circle21', 'captured'],
  ['circle22', 'captured'],
] as const)(
  'behind a proxy %s settles as it does alone',
  async (version, end) => {
    const token = await deployToken(version)
    const { capabilities } = await getToken(chain.clients.public, { token })
    const receive = await pay(token, 'ReceiveWithAuthorization')
    const transfer = await pay(token, 'TransferWithAuthorization')

    expect(capabilities).toMatchObject({
      receive: version !== 'circle20',
      bytes: version === 'circle22',
      stateEnum: version === 'circle20',
    })
    expect(await captureOf(chain, receive)).toBe(end)
    expect(await captureOf(chain, transfer)).toBe('captured')
    expect(await captureOf(chain, transfer)).toBe('consumed')
  },
)

test.each([
  ['circle20', 'circle21', 'ok'],
  ['circle21', 'circle22', 'ok'],
  // Its separator was never stored.
  ['circle22', 'circle21', 'wrongDomain'],
] as const)(
  'what was signed for %s is judged by %s after an upgrade: %s',
  async (before, after, verdict) => {
    const token = await deployToken(before)
    const payment = await pay(token, 'ReceiveWithAuthorization')
    await upgrade(token, after)

    expect(await verdictOf(chain, payment)).toBe(verdict)
    expect(await captureOf(chain, payment)).toBe(
      verdict === 'ok' ? 'captured' : verdict,
    )
  },
)
