import type { DevChain } from 'countersign/devchain'
import { type Hex, toHex } from 'viem'
import {
  generatePrivateKey,
  mnemonicToAccount,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import { getTransactionCount } from 'viem/actions'
import { devMnemonic } from '../../src/devchain/devAccounts.js'
import { pay } from '../chain/support/shop.js'
import { openShop } from './openShop.js'
import type { Engine } from './plan.js'
import type { RefundPlan, RefundSigner } from './refundPlan.js'

/** What a process that refunds will find. */
export type RefundStage = {
  chain: DevChain
  plan: RefundPlan
  payer: PrivateKeyAccount
  recipient: PrivateKeyAccount
  /** The account that sends the refund. */
  sender: PrivateKeyAccount
  /** Transactions of the sender before the refund. */
  sent: number
  firstBlock: bigint
}

let taken = 3

/** The key of an account whose wallet is the development node. */
function nextNodeKey(): Hex {
  taken = taken === 9 ? 3 : taken + 1
  const { privateKey } = mnemonicToAccount(devMnemonic, {
    addressIndex: taken,
  }).getHdKey()
  if (!privateKey) throw new Error('the phrase derives no private key')
  return toHex(privateKey)
}

/** A captured order of a buyer nobody has seen before, in a final block. */
export async function setRefundStage(
  chain: DevChain,
  {
    engine,
    signer,
    lease,
  }: { engine: Engine; signer: RefundSigner; lease: number },
): Promise<RefundStage> {
  const { test, public: client } = chain.clients
  const recipientKey =
    signer === 'jsonRpc' ? nextNodeKey() : generatePrivateKey()
  const senderKey = signer === 'elsewhere' ? generatePrivateKey() : recipientKey
  const recipient = privateKeyToAccount(recipientKey)
  const sender = privateKeyToAccount(senderKey)
  const payer = privateKeyToAccount(generatePrivateKey())
  const firstBlock = await client.getBlockNumber({ cacheTime: 0 })
  const { address } = sender
  await Promise.all([
    test.setBalance({ address, value: 10n ** 18n }),
    chain.mint({ to: payer.address, value: 1_250_000n }),
  ])
  const plan: RefundPlan = {
    signer,
    engine,
    account: signer === 'jsonRpc' ? 'jsonRpc' : 'local',
    url: chain.urls.http,
    token: chain.token,
    keys: [senderKey],
    recipients: signer === 'elsewhere' ? [recipient.address] : [],
    policy: { lease, capture: 'manual' },
    orderId: '',
    refundId: 'one',
    amount: '0.75',
    recipientKey,
  }
  const shop = openShop(plan)
  try {
    const drafted = await shop.orders.draft({
      amount: '1.25',
      recipient: recipient.address,
      ...(signer === 'elsewhere'
        ? { primaryType: 'TransferWithAuthorization' }
        : {}),
    })
    const orderId = drafted.order.id
    const payment = await pay(payer, drafted.payment)
    const verdict = await shop.orders.accept({ orderId, payment })
    if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
    const { status } = await shop.orders.capture({ orderId })
    if (status !== 'captured') throw new Error(`the capture was ${status}`)
    await test.mine({ blocks: 4 })
    await shop.orders.reconcile()
    return {
      chain,
      payer,
      recipient,
      sender,
      plan: { ...plan, orderId },
      sent: await getTransactionCount(client, { address }),
      firstBlock,
    }
  } finally {
    await shop.orders.close()
  }
}
