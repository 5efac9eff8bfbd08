import { type DevChain, startDevChain } from 'countersign/devchain'
import { expect, test } from 'vitest'

const sends = 100

async function countUnmined({ clients }: DevChain): Promise<number> {
  const { merchant, public: client } = clients
  const { address: to } = merchant.account
  let unmined = 0
  for (let nonce = 0; nonce < sends; nonce++) {
    const hash = await merchant.sendTransaction({ to, nonce, gas: 21_000n })
    const method = 'eth_getTransactionReceipt'
    if (!(await client.request({ method, params: [hash] }))) unmined++
  }
  return unmined
}

test.each([
  ['a chain', {}],
  ['a chain behind policies', { policies: {} }],
])(
  'on %s that mines at once, a transaction is in a block once a client has its hash',
  async (_, options) => {
    const chain = await startDevChain({ blockTime: 0, ...options })
    try {
      expect(await countUnmined(chain)).toBe(0)
    } finally {
      await chain.stop()
    }
  },
)

test('a transaction that waits for an earlier one, or for a block, is answered with its hash', async () => {
  const chain = await startDevChain({ blockTime: 0 })
  const { merchant, public: client, test: node } = chain.clients
  const { address: to } = merchant.account
  try {
    const early = await merchant.sendTransaction({ to, nonce: 1, gas: 21_000n })
    await node.setAutomine(false)
    const held = await merchant.sendTransaction({ to, nonce: 0, gas: 21_000n })
    expect(await client.getTransactionCount({ address: to })).toBe(0)
    await node.mine({ blocks: 1 })
    const block = await client.getBlock()
    expect(block.transactions).toEqual([held, early])
  } finally {
    await chain.stop()
  }
})

test('a transaction that the node keeps waiting for one that is mined already is sent again', async () => {
  const chain = await startDevChain({ blockTime: 0 })
  const { merchant, payer, public: client, test: node } = chain.clients
  const { address: to } = merchant.account
  try {
    const first = await merchant.sendTransaction({ to, nonce: 1, gas: 21_000n })
    const second = await merchant.sendTransaction({
      to,
      nonce: 2,
      gas: 21_000n,
    })
    // Leaves the pool as anvil's own race does: nobody sends nonce 0 any more.
    await node.setNonce({ address: to, nonce: 1 })
    await payer.sendTransaction({ to, gas: 21_000n })
    for (const hash of [first, second])
      expect((await client.getTransactionReceipt({ hash })).status).toBe(
        'success',
      )
  } finally {
    await chain.stop()
  }
})
