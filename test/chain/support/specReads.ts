import { devContracts, startDevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import {
  type Address,
  custom,
  encodeFunctionData,
  keccak256,
  pad,
  stringToHex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { waitForTransactionReceipt } from 'viem/actions'
import { afterAll } from 'vitest'
import { chain } from './specChain.js'

export const flash = await startDevChain({
  preconfirmations: 'flashblocks',
  blockTime: 0,
  tick: 0,
})
export const limited = await startDevChain({
  blockTime: 0,
  policies: {
    blockReceipts: 'forbidden',
    maxLogRange: { blocks: 10, wording: 'publicBase' },
  },
})
afterAll(() => Promise.all([flash.stop(), limited.stop()]))

type DevChain = typeof chain
export const readerOf = ({ urls }: DevChain) =>
  createReadClient({ url: urls.http })
export const reader = readerOf(chain)

export const signatureHash = keccak256(
  stringToHex('Transfer(address,address,uint256)'),
)
const newAddress = () => privateKeyToAccount(generatePrivateKey()).address
export const addressTopic = (address: Address) => pad(address, { size: 32 })

/** Five token units from the payer, and where they ended up. */
export async function transfer(
  on: DevChain = chain,
  to: Address = newAddress(),
) {
  const { payer, public: client } = on.clients
  const data = encodeFunctionData({
    abi: devContracts.fiatTokenV2_2.abi,
    functionName: 'transfer',
    args: [to, 5n],
  })
  const hash = await payer.sendTransaction({
    to: on.token,
    data,
    gas: 100_000n,
  })
  const receiptOf = () => waitForTransactionReceipt(client, { hash })
  return { to, hash, receiptOf, topics: [null, null, addressTopic(to)] }
}

/** A node that remembers its requests and gives one answer to each method. */
export function nodeOf(answers: Readonly<Record<string, unknown>> = {}) {
  const asked: { method: string; params: readonly unknown[] }[] = []
  const request = async (question: (typeof asked)[number]) => {
    asked.push(question)
    return answers[question.method]
  }
  const transport = custom({ request: request as never })
  return { client: createReadClient({ transport }), asked }
}
