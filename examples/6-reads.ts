/**
 * A merchant reads past payments and follows those that come in.
 *
 *     npx tsx examples/6-reads.ts
 */
import { startDevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import { padHex, toEventSelector } from 'viem'
import { pay, payLongAgo } from './reads/pay.js'
import { sayEvent, showProgress, sumUp } from './reads/show.js'

const chain = await startDevChain({
  preconfirmations: 'flashblocks',
  blockTime: 1,
})
try {
  await payLongAgo(chain, ['5.00', '7.50', '10.00', '12.50', '15.00'])

  const client = createReadClient({ url: chain.urls.http })
  const { merchant, public: reader } = chain.clients
  const transfer = toEventSelector('Transfer(address,address,uint256)')
  const received = {
    address: chain.token,
    topics: [transfer, null, padHex(merchant.account.address)],
  }

  // What a block holds is read once: up to the head here, from there on below.
  const head = await reader.getBlockNumber({ cacheTime: 0 })
  const past = await client.getLogs({
    ...received,
    fromBlock: 0n,
    toBlock: head,
    maxBlockRange: 20n,
    onProgress: showProgress,
  })
  console.log(sumUp(past))

  const amounts = ['1.00', '2.00', '3.00']
  await new Promise<void>((resolve, reject) => {
    let open = amounts.length
    const unwatch = client.watchLogs({
      ...received,
      fromBlock: head + 1n,
      webSocket: chain.urls.webSocket,
      preconfirmed: true,
      finality: 'safe',
      onEvent: (event) => {
        console.log(sayEvent(event))
        if (event.type !== 'safe' || --open > 0) return
        unwatch()
        resolve()
      },
      onError: reject,
    })
    pay(chain, amounts).catch(reject)
  })
} finally {
  await chain.stop()
}
