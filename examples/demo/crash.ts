import { equal } from 'node:assert/strict'
import { waitForOutcome } from 'countersign'
import { createReadClient, decodeTokenLog } from 'countersign/reads'
import { padHex, toEventSelector } from 'viem'
import { runCapture } from './runCapture.js'
import { readEnding, signedAndAccepted } from './steps.js'
import type { Scene, Story } from './types.js'

export const crash: Story = {
  id: 'crash',
  title: 'The worker is killed between broadcast and record',
  ends: { chain: 'captured', order: 'captured' },
  moves: ({ amount }) => ({ payer: -amount, merchant: amount }),

  async play(scene) {
    const { orders, place } = scene.shop
    const { public: reader } = scene.chain.clients
    const { orderId, payment } = await signedAndAccepted(scene)

    const first = await runCapture({ place, orderId, dies: true })
    equal(first.signal, 'SIGKILL')
    await scene.tell(
      'worker',
      `in process ${first.pid} sends the capture: SIGKILL`,
    )
    const left = await orders.get({ orderId })
    equal(left.state, 'capturing')
    await scene.tell(
      'merchant',
      'has on record: capturing, and nothing of an end',
    )
    const taken = await waitForOutcome(reader, { payment })
    equal(taken.status, 'captured')
    const { transactionHash } = taken.proof
    await scene.tell('chain', 'has taken it, and nobody knows', transactionHash)

    const second = await runCapture({ place, orderId, dies: false })
    equal(second.hash, transactionHash)
    await scene.tell('worker', `starts again, in process ${second.pid}`)
    const ending = await readEnding(scene, { orderId, payment })
    equal(ending.order.capture?.transactionHash, transactionHash)
    await scene.tell(
      'worker',
      'finds it by what was written before, sends no other',
    )
    equal(await countTransfers(scene), 1)
    equal(await countTransactions(scene), 1)
    await scene.tell('merchant', 'counts: 1 transaction, 1 transfer, 1 record')
    return ending
  },
}

/** Transfers to the merchant, as the token tells them. */
async function countTransfers({ chain, shop, expect }: Scene): Promise<number> {
  const client = createReadClient({ url: shop.place.url })
  const transfer = toEventSelector('Transfer(address,address,uint256)')
  const logs = await client.getLogs({
    address: chain.token,
    topics: [transfer, null, padHex(expect.to)],
    fromBlock: 0n,
    toBlock: await chain.clients.public.getBlockNumber({ cacheTime: 0 }),
  })
  return logs.filter((log) => decodeTokenLog(log)?.name === 'Transfer').length
}

/** What the merchant's account ever sent, what is not mined yet included. */
function countTransactions({ chain, shop }: Scene): Promise<number> {
  const { address } = shop.merchant.account
  const { public: reader } = chain.clients
  return reader.getTransactionCount({ address, blockTag: 'pending' })
}
