import type { Hash } from 'viem'
import { expect, test } from 'vitest'
import { ask, freshAddress, transfer } from '../support/emulated.js'
import {
  chain,
  clients,
  control,
  countOf,
  fourth,
  payer,
  pendingBlock,
  receiptOf,
} from '../support/emulatorDesk.js'

test('transactions are refused in the words of the node', async () => {
  const { sendTransaction, signTransaction } = clients.payer
  const to = freshAddress()
  const prepared = await clients.payer.prepareTransactionRequest({ to })
  const raw = await signTransaction(prepared)
  const submit = () => ask(chain, 'eth_sendRawTransaction', raw)
  await submit()
  await expect(submit()).rejects.toMatchObject({
    code: -32003,
    message: 'transaction already imported',
  })
  const { nonce, maxFeePerGas } = prepared
  const cheap = sendTransaction({ to, nonce, maxFeePerGas, value: 1n })
  await expect(cheap).rejects.toThrow('replacement transaction underpriced')
  await control.tick()
  await expect(submit()).rejects.toThrow('transaction already imported')
  const late = sendTransaction({ to, nonce, value: 1n })
  await expect(late).rejects.toThrow(/nonce too low|lower than the current/i)
  await control.seal()
  await expect(submit()).rejects.toThrow('nonce too low')
  const garbage = ask(chain, 'eth_sendRawTransaction', '0x1234')
  await expect(garbage).rejects.toMatchObject({ code: -32602 })
})

test('a better fee replaces what is still in the mempool', async () => {
  const { payer: wallet } = clients
  const to = freshAddress()
  const { nonce, maxFeePerGas } = await wallet.prepareTransactionRequest({ to })
  const first = await wallet.sendTransaction({ to, nonce, maxFeePerGas })
  const fee = maxFeePerGas * 2n
  const next = { to, nonce, maxFeePerGas: fee, maxPriorityFeePerGas: fee }
  const second = await wallet.sendTransaction(next)
  await control.tick()
  expect(await receiptOf(first)).toBeNull()
  expect((await receiptOf(second)).status).toBe('0x1')
})

test('a transaction after a gap waits until the gap is filled', async () => {
  const { payer: wallet } = clients
  const to = freshAddress()
  const nonce = await countOf('pending')
  const later = await wallet.sendTransaction({ to, nonce: nonce + 1 })
  await control.tick()
  expect(await receiptOf(later)).toBeNull()
  const first = await wallet.sendTransaction({ to, nonce })
  await control.tick()
  expect((await pendingBlock()).transactions).toEqual([first, later])
})

test('a contract that is deployed is pre-confirmed with its address', async () => {
  const deployed = await ask(chain, 'eth_sendTransaction', {
    from: payer,
    data: '0x6001600c60003960016000f300',
    gas: '0x30d40',
  })
  await control.tick()
  const receipt = await receiptOf(String(deployed) as Hash)
  const code = (block: string) =>
    ask(chain, 'eth_getCode', receipt.contractAddress, block)
  expect([await code('pending'), await code('latest')]).toEqual(['0x00', '0x'])
})

test('a block of 300 transactions keeps its order from tick to tick', async () => {
  const from = payer
  const hashes: Hash[] = []
  for (let at = 0; at < 300; at++) {
    hashes.push(await transfer(chain, fourth, from))
    if (at % 100 === 99) await control.tick()
  }
  expect((await pendingBlock()).transactions).toEqual(hashes)
  await control.seal()
  const sealed = await ask(chain, 'eth_getBlockByNumber', 'latest', false)
  expect(sealed.transactions).toEqual(hashes)
})
