import type { SubmitterHealth } from '../../orders/index.js'
import { formatCoin } from '../terminal/formats.js'
import { fail, ok, warn } from './findings.js'
import type { CheckFinding } from './types.js'

/** Gas that one capture of USDC uses, rounded up. */
const captureGas = 100_000n

/** The doctor warns if the funds last for fewer captures than this. */
const fewCaptures = 100n

const toDo =
  'Until then its payments wait for another capture key, or the treasury’s own wallet.'

/**
 * Checks whether a sending account has coins for gas, and for how many
 * captures.
 */
export function checkFunds(
  submitter: SubmitterHealth,
): readonly CheckFinding[] {
  const { chainId, account, balance, gasPrice, fault, faultKind, lease } =
    submitter
  const subject = `chain ${chainId}, gas of ${account}`
  if (balance === undefined || gasPrice === undefined)
    return [
      {
        ...fail(subject, fault ?? 'unknown', 'Check the node of its chain.'),
        isAway: true,
      },
    ]
  const cost = captureGas * (gasPrice > 0n ? gasPrice : 1n)
  const captures = balance / cost
  const words = `${formatCoin(balance)}, for ${captures > 1_000_000n ? 'more than a million' : `about ${captures}`} captures at today’s price`
  const funds =
    captures === 0n
      ? fail(subject, words, `Send the coin of the chain to ${account}.`)
      : captures < fewCaptures
        ? warn(subject, words, `Send more of the chain’s coin to ${account}.`)
        : ok(subject, words)
  const worker = `chain ${chainId}, worker for ${account}`
  const stopped =
    fault !== undefined && faultKind === 'captureKey'
      ? [fail(`chain ${chainId}, capture key ${account}`, fault, toDo)]
      : []
  return [
    funds,
    ...stopped,
    lease
      ? ok(worker, 'is running')
      : warn(
          worker,
          'none is running',
          'Start a server that calls orders.run: without one nothing is captured, settled or expired.',
        ),
  ]
}
