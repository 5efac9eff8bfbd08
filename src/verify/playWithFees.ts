import type { BlockHead } from '../reads/requestNode.js'
import type { CallFees, PlayAlone } from '../reads/types.js'

/**
 * Plays with fee fields, or without where the sender cannot pay for them. What
 * is refused, but not when gas is plenty and free, was refused for its gas.
 */
export function playWithFees(fees: CallFees | undefined): PlayAlone {
  return async (call, ask, head) => {
    const answer = await ask(call, fees ?? usualFees(head))
    if (answer.ok) return answer
    if (/insufficient funds for gas|lack of funds/i.test(answer.words ?? ''))
      return ask(call)
    const roomy = await ask({ ...call, gas: call.gas * 10 })
    return roomy.ok ? { ...answer, words: 'out of gas' } : answer
  }
}

function usualFees({ baseFeePerGas }: BlockHead): CallFees {
  if (baseFeePerGas === undefined) return {}
  const maxPriorityFeePerGas = 1_000_000n
  const maxFeePerGas = 2n * baseFeePerGas + maxPriorityFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas }
}
