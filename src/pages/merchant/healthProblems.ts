import type { Answers } from '../../http/schemas/answerTypes.js'

type Health = Answers['Health']
type Fault = NonNullable<Health['chains'][number]['fault']>

export type HealthProblem = {
  key: string
  title: string
  /** What the merchant can do about it. */
  advice: string
  /** The order that it is about, whose page says more. */
  orderId?: string | undefined
}

const faults: Readonly<Record<Fault, readonly [what: string, todo: string]>> = {
  unreachable: [
    'its node does not answer',
    'Ask the node’s provider, or change the URL to your second provider. Nothing is lost meanwhile, but payments keep expiring.',
  ],
  timedOut: [
    'its node answers too late',
    'Ask the node’s provider, or change the URL to your second provider. Nothing is lost meanwhile, but payments keep expiring.',
  ],
  rateLimited: [
    'its node limits your requests',
    'Take a plan with more requests, or another provider.',
  ],
  refused: [
    'its node refuses your requests',
    'Check the key in the node’s URL, and which methods your plan allows.',
  ],
  malformedAnswer: [
    'its node gives answers that cannot be read',
    'Use another node.',
  ],
  noSafeBlock: [
    'its node has no safe block',
    'Set policy.blocks, so that finality is counted in blocks. Until then nothing is fulfilled.',
  ],
  behindDatabase: [
    'its node is behind your database',
    'Check the node and its chain: it was restarted, or is on another chain. Until then no order changes.',
  ],
  walletRemoved: [
    'its wallet was removed from the configuration',
    'Add the wallet again until its transactions are settled.',
  ],
  captureKey: [
    'it is a capture key that cannot capture now',
    'Run npx countersign health to see why. Until then only the treasury itself can capture: payments keep expiring.',
  ],
}

/** Lists the problems in a health report with advice, the worst first. */
export function findHealthProblems({
  suspended,
  chains,
  destinations,
  submitters,
}: Health): readonly HealthProblem[] {
  const found: HealthProblem[] = []
  if (suspended)
    found.push({
      key: 'suspended',
      title: 'Sending is stopped.',
      advice:
        'Somebody suspended the shop, or its database was replaced. Check it, then run: npx countersign resume',
    })
  for (const { chainId, fault } of chains)
    if (fault) {
      const [what, advice] = faults[fault]
      found.push({
        key: `${chainId}`,
        title: `Chain ${chainId}: ${what}.`,
        advice,
      })
    }
  for (const {
    chainId,
    account,
    fault,
    lease,
    openTransactions,
  } of submitters) {
    const key = `${chainId} ${account}`
    const name = `Sending account ${account} on chain ${chainId}`
    if (fault) {
      const [what, advice] = faults[fault]
      found.push({ key, title: `${name}: ${what}.`, advice })
    } else if (!lease && openTransactions > 0)
      found.push({
        key,
        title: `${name}: no worker serves it.`,
        advice: 'Start a worker: captures wait for one.',
      })
  }
  for (const { putAside, ...place } of [...destinations, ...submitters])
    for (const { what, reason } of putAside)
      found.push({
        key: `${JSON.stringify(place)} ${what}`,
        title: `${nameOf(what)} failed and is tried again: ${reason}.`,
        advice: adviceFor(what),
        orderId: orderOf(what),
      })
  return found
}

const tasks: Readonly<Record<string, readonly [name: string, todo: string]>> = {
  submitter: [
    'All work of a sending account',
    'The node does not return the account’s state, or is on another chain: check the node.',
  ],
  watch: ['Watching the chain', 'Check the node: it gives no newest block.'],
  head: ['Watching the chain', 'Check the node: it gives no newest block.'],
  finality: [
    'Finality',
    'The node has no safe block, or its blocks contradict each other: set policy.blocks, or use another node.',
  ],
  schedule: ['Charging subscriptions', 'Check the node of their chain.'],
  charges: ['Watching charges', 'Check the node of their chain.'],
}

function nameOf(what: string): string {
  return (
    tasks[what]?.[0] ??
    `Work on ${what.replace(/^sign:/, 'signing ').replace('\t', ', refund ')}`
  )
}

function adviceFor(what: string): string {
  const [, advice] = tasks[what] ?? []
  if (advice) return advice
  return what.startsWith('sign:')
    ? 'Repair the key service or the sealing key; all other orders go on.'
    : 'Everything else goes on. If it stays, run: npx countersign doctor'
}

/**
 * Finds the order in a task's name: an order's id, or a refund's, which begins
 * with its order's id and a tab; with `sign:` before it or not. Hashes and ids
 * after other words have no page.
 */
function orderOf(what: string): string | undefined {
  const [id = ''] = what.replace(/^sign:/, '').split('\t')
  const isOther = tasks[what] || /^0x[\da-f]{64}$|^revocation /.test(id)
  return isOther ? undefined : id
}
