import type { SignedPayment } from 'countersign'
import { deployDevContract, startDevChain } from 'countersign/devchain'
import {
  type Address,
  encodeFunctionData,
  parseAbiItem,
  zeroAddress,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getLogs, sendTransaction, signAuthorization } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { eventually } from '../../unit/support/webhooksRun.js'
import { isFull, seed, startChance } from '../support/chaos.js'
import { compileSolidity } from '../support/compileSolidity.js'
import { newAccount } from '../support/desk.js'
import { findBookProblems } from '../support/hardTimes.js'
import { type LedgerShop, openLedgerShop, sell } from '../support/ledgerShop.js'
import { pay } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0.3, token: 'usdc' })
afterAll(() => chain.stop())
const { public: reader, relayer } = chain.clients

/** A wallet that can be upgraded, and what it can become. */
const contracts = compileSolidity(`
contract Proxy {
    address public owner;
    address public implementation;
    constructor(address owner_, address implementation_) { owner = owner_; implementation = implementation_; }
    function upgrade(address next) external { implementation = next; }
    fallback(bytes calldata data) external returns (bytes memory) {
        (bool ok, bytes memory answer) = implementation.delegatecall(data);
        require(ok);
        return answer;
    }
}
contract Honest {
    address public owner;
    function isValidSignature(bytes32 digest, bytes calldata signature) public view virtual returns (bytes4) {
        address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return signer == owner || signer == address(this) ? bytes4(0x1626ba7e) : bytes4(0);
    }
}
contract Refusing {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) { return 0; }
}
contract Burning {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) { assembly { invalid() } }
}
contract Lying is Honest {
    function isValidSignature(bytes32 digest, bytes calldata signature) public view override returns (bytes4) {
        if (tx.gasprice > 0) assembly { invalid() }
        return super.isValidSignature(digest, signature);
    }
}`)

async function deploy(name: string, args: readonly unknown[] = []) {
  const contract = contracts[name]
  if (!contract) throw new Error(name)
  return deployDevContract(chain, { contract, args })
}

const honest = await deploy('Honest')
const hostile = [
  await deploy('Refusing'),
  await deploy('Burning'),
  await deploy('Lying'),
] as const

/** A payer whose code can change at any time. */
type Payer = {
  address: Address
  owner: PrivateKeyAccount
  /** All code under which the payer's signature is good. */
  good: readonly [Address, ...Address[]]
  become(code: Address): Promise<unknown>
}

/** An account with a key, which gains and loses code (EIP-7702). */
async function startKey(): Promise<Payer> {
  const owner = newAccount()
  return {
    address: owner.address,
    owner,
    good: [zeroAddress, honest],
    become: async (code) => {
      const authorization = await signAuthorization(relayer, {
        account: owner,
        contractAddress: code,
      })
      return sendTransaction(relayer, {
        to: relayer.account.address,
        authorizationList: [authorization],
        gas: 200_000n,
      }).then(mined)
    },
  }
}

/** A contract wallet, which is upgraded. */
async function startWallet(): Promise<Payer> {
  const owner = newAccount()
  const address = await deploy('Proxy', [owner.address, honest])
  const abi = contracts.Proxy?.abi ?? []
  return {
    address,
    owner,
    good: [honest],
    become: (code) =>
      sendTransaction(relayer, {
        to: address,
        data: encodeFunctionData({
          abi,
          functionName: 'upgrade',
          args: [code],
        }),
        gas: 200_000n,
      }).then(mined),
  }
}

const mined = (hash: `0x${string}`) =>
  reader.waitForTransactionReceipt({ hash, pollingInterval: 50 })

/** Sells to a payer. A payer that does not agree at this time is refused. */
async function sellTo(
  { orders }: LedgerShop,
  { address, owner }: Payer,
): Promise<{ id: string; signed: SignedPayment } | undefined> {
  const { order, payment } = await orders.draft({ amount: '12.50' })
  const from = address.toLowerCase() as Address
  const signed = await pay(owner, payment, { from })
  const { ok } = await orders.accept({ orderId: order.id, payment: signed })
  return ok ? { id: order.id, signed } : undefined
}

const used = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
)

async function timesUsed({ message }: SignedPayment): Promise<number> {
  const logs = await getLogs(reader, {
    address: chain.token,
    event: used,
    args: { authorizer: message.from, nonce: message.nonce },
    fromBlock: 0n,
  })
  return logs.length
}

const worlds = isFull ? 30 : 1

for (let world = 0; world < worlds; world++)
  test(`payers whose code changes between accept and capture pay at most once and hold up nobody (seed ${seed}, world ${world})`, {
    timeout: 300_000,
  }, async () => {
    const random = startChance(world)
    const draw = <item>(items: readonly [item, ...item[]]): item =>
      items[Math.floor(random() * items.length)] ?? items[0]
    const shop = await openLedgerShop(chain, {
      policy: { capture: 'onAccept', pollingInterval: 100 },
    })
    const { orders } = shop
    const stop = new AbortController()
    const running = orders.run({ signal: stop.signal })
    const payers: [Payer, ...Payer[]] = [
      await startKey(),
      await startWallet(),
      await startKey(),
      await startWallet(),
    ]
    for (const { address } of payers)
      await chain.mint({ to: address, value: 1_000_000_000n })

    const sold: { payer: Payer; id: string; signed: SignedPayment }[] = []
    const plain: string[] = []
    for (let step = 0; step < 30; step++) {
      const payer = draw(payers)
      const kind = Math.floor(random() * 4)
      if (kind === 0) {
        plain.push(`plain-${world}-${step}`)
        await sell(shop, `plain-${world}-${step}`)
      } else if (kind === 1) {
        await payer.become(draw([...payer.good, ...hostile]))
      } else {
        const sale = await sellTo(shop, payer)
        if (!sale) continue
        sold.push({ payer, ...sale })
        // The capture is requested and perhaps rehearsed, signed or sent.
        if (random() < 0.7) await payer.become(draw([honest, ...hostile]))
      }
    }
    const stateOf = async (orderId: string) =>
      (await orders.get({ orderId })).state
    const statesOf = (ids: readonly string[]) => Promise.all(ids.map(stateOf))

    // Some payers never agree again, and the others' orders are captured.
    const lost = payers.slice(0, 2)
    for (const payer of payers)
      await payer.become(lost.includes(payer) ? draw(hostile) : honest)
    const willing = sold.filter(({ payer }) => !lost.includes(payer))
    const open = [...plain, ...willing.map(({ id }) => id)]
    await eventually(async () => {
      // A wallet that burned gas in a block waits for the merchant.
      for (const orderId of open)
        if ((await orders.get({ orderId })).needsReview)
          await orders.capture({ orderId })
      return statesOf(open)
    }).toEqual(open.map(() => 'captured'))

    await chain.warp(3_600)
    const all = sold.map(({ id }) => id)
    await eventually(async () =>
      (await statesOf(all)).filter(
        (state) => state !== 'captured' && state !== 'expired',
      ),
    ).toEqual([])
    stop.abort()
    await running

    for (const { id, signed } of sold)
      expect([id, await timesUsed(signed)]).toEqual([
        id,
        (await stateOf(id)) === 'captured' ? 1 : 0,
      ])
    await orders.reconcile()
    const { ok } = await orders.audit()
    expect([ok, await findBookProblems(chain, orders)]).toEqual([true, []])
    await orders.close()
  })
