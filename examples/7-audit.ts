/**
 * What the chain moved to a shop, and what the shop has on record, side by
 * side and to the unit.
 *
 *     npx tsx examples/7-audit.ts
 */
import { devContracts, startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { memoryStore } from 'countersign/store'
import { printAudit } from './orders/printAudit.js'
import { sell } from './orders/sell.js'

const chain = await startDevChain({ blockTime: 0.2 })
const { payer, merchant, public: reader } = chain.clients
const client = createReadClient({ url: chain.urls.http, chain: chain.chain })
const orders = createOrders({
  // For a trial: a shop keeps its orders in a database, and sealed.
  store: memoryStore({ volatile: true }),
  seal: 'none',
  tokens: [{ client, token: chain.token }],
  wallets: [merchant],
})

try {
  const fromBlock = await reader.getBlockNumber()
  for (const amount of ['12.50', '5.00', '20.00']) {
    const orderId = await sell(orders, chain, { amount })
    await orders.capture({ orderId })
  }

  // Somebody sends tokens to the shop and tells nobody what they are for.
  const hash = await payer.writeContract({
    address: chain.token,
    abi: devContracts.fiatTokenV2_2.abi,
    functionName: 'transfer',
    args: [merchant.account.address, 1_250_000n],
  })
  await reader.waitForTransactionReceipt({ hash })
  printAudit(await orders.audit({ fromBlock }))

  // From now on it is on record as well, for somebody to look after.
  const { destinations } = await orders.reconcile({ fromBlock })
  console.log(
    `reconciled: ${destinations[0]?.unmatched} payment without an order`,
  )
  printAudit(await orders.audit({ fromBlock }))
} finally {
  await orders.close()
  await chain.stop()
}
