import {
  type DevChain,
  devContracts,
  startDevChain,
} from 'countersign/devchain'
import {
  type Abi,
  type Address,
  decodeErrorResult,
  encodeFunctionData,
  type Hash,
  type Hex,
} from 'viem'
import { setBalance, setNextBlockTimestamp } from 'viem/actions'
import { devAuthority } from '../../../src/devchain/initializeToken.js'

export const abi: Abi = devContracts.fiatTokenV2_2.abi

/** One call of the token, by somebody. */
export type TwinCall = {
  from: Address
  functionName: string
  args: readonly unknown[]
}

/** What a token made of a call; the same call costs the same each time. */
export type Answer = {
  /** `'success'`, or why the token refused. */
  words: string
  gas: number
  logs: readonly { topics: readonly Hex[]; data: Hex }[]
}

/**
 * The development token and Circle's, each on a chain of its own but at the
 * same address: they have one domain, take the same signatures and the same
 * bytes, so all that differs is theirs.
 */
export async function startTwins() {
  const [development, usdc] = await Promise.all([
    startDevChain({ blockTime: 0 }),
    startDevChain({ blockTime: 0, token: 'usdc' }),
  ])
  const twins = [development, usdc] as const
  let time = firstTime
  return {
    development,
    usdc,
    token: usdc.token,
    /** The time of the block that the next call comes into. */
    nextTime: () => time + 10n,
    /** Makes the call on both chains, in blocks of the same time. */
    ask: async (call: TwinCall): Promise<readonly [Answer, Answer]> => {
      time += 10n
      const [first, second] = await Promise.all(
        twins.map((chain) => answer(chain, call, time)),
      )
      if (!first || !second) throw new Error('Two tokens were asked.')
      return [first, second]
    },
    /** Does the same to both chains. */
    both: <result>(act: (chain: DevChain) => Promise<result>) =>
      Promise.all(twins.map(act)),
    stop: async () => {
      await Promise.all(twins.map((chain) => chain.stop()))
    },
  }
}

/** Far enough ahead that no machine's clock has reached it. */
const firstTime = 4_000_000_000n

/** The account that holds every role of both tokens. */
export const authority: Address = devAuthority

async function answer(
  { clients, token }: DevChain,
  { from, ...call }: TwinCall,
  timestamp: bigint,
): Promise<Answer> {
  const { public: client, test } = clients
  const data = encodeFunctionData({ abi, ...call })
  await setBalance(test, { address: from, value: 10n ** 18n })
  await setNextBlockTimestamp(test, { timestamp })
  const hash = await test.sendUnsignedTransaction({
    from,
    to: token,
    data,
    gas: 500_000n,
  })
  const receipt = await client.waitForTransactionReceipt({ hash })
  return {
    words:
      receipt.status === 'success' ? 'success' : await wordsOf(clients, hash),
    gas: Number(receipt.gasUsed),
    logs: receipt.logs.map(({ topics, data }) => ({ topics, data })),
  }
}

async function wordsOf(
  { public: client }: DevChain['clients'],
  hash: Hash,
): Promise<string> {
  const { output } = await client.request<{
    Parameters: [Hash, { tracer: 'callTracer' }]
    ReturnType: { output?: Hex }
    Method: 'debug_traceTransaction'
  }>({
    method: 'debug_traceTransaction',
    params: [hash, { tracer: 'callTracer' }],
  })
  if (!output || output === '0x') return 'no words'
  const { errorName, args } = decodeErrorResult({ abi, data: output })
  return errorName === 'Error' ? String(args?.[0]) : `${errorName} ${args}`
}
