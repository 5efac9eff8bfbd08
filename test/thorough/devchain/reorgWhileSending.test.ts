import { startDevChain } from 'countersign/devchain'
import { type Address, createWalletClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const client = chain.clients.public
const rounds = 30

/** Sends one wei after the other, until it is stopped. */
function startSending(to: Address): () => Promise<void> {
  const [account] = chain.accounts.slice(3)
  if (!account) throw new Error('no account left')
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  let isStopped = false
  const send = async () => {
    while (!isStopped)
      // A reorganization may take back the nonce that was asked for.
      await wallet.sendTransaction({ to, value: 1n }).catch(() => undefined)
  }
  const ended = send()
  return async () => {
    isStopped = true
    await ended
  }
}

async function countSent(to: Address, latest: bigint): Promise<bigint> {
  let sent = 0n
  for (let blockNumber = 1n; blockNumber <= latest; blockNumber++) {
    const { transactions } = await client.getBlock({
      blockNumber,
      includeTransactions: true,
    })
    for (const one of transactions) if (one.to === to) sent += one.value
  }
  return sent
}

test('a transaction that arrives during a reorganization is in a block and in the balances, or in neither', async () => {
  const { address } = privateKeyToAccount(generatePrivateKey())
  const to = address.toLowerCase() as Address
  const stop = startSending(to)
  for (let round = 0; round < rounds; round++) {
    await chain.clients.test.mine({ blocks: 2 })
    await chain.reorg({ depth: 1 + (round % 2), transactions: 'dropped' })
  }
  await stop()
  await chain.clients.test.mine({ blocks: 1 })
  const latest = await client.getBlockNumber({ cacheTime: 0 })
  const balance = await client.getBalance({ address: to, blockNumber: latest })
  expect(balance).toBe(await countSent(to, latest))
})
