import type { Answers } from '../../http/schemas/answerTypes.js'
import type { TaskName } from '../../orders/engine.js'

type Health = Answers['Health']
type Fault = NonNullable<Health['chains'][number]['fault']>

export type HealthProblem = {
  key: string
  title: string
  /** What the merchant can do about it. */
  advice: string
  /** The order that it is about, whose page says more. */
  orderId?: string | undefined
  /** The subscription that it is about. */
  subscriptionId?: string | undefined
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
  otherChain: [
    'its node is on another chain',
    'Correct the node’s URL, or ask its provider. Until then no order changes.',
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
    feeTooHigh,
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
    if (feeTooHigh > 0)
      found.push({
        key: `${key} fees`,
        title: `${name}: network fees are too high for what waits.`,
        advice:
          'Captures go on once fees are below policy.maxFee. Raise it if payments would expire before.',
      })
  }
  for (const { putAside, ...place } of [...destinations, ...submitters])
    for (const { what, subscriptionId, reason } of putAside) {
      const task = taskOf(what)
      const [, orderId] = task ? [] : (idForm.exec(what) ?? [])
      found.push({
        key: `${JSON.stringify(place)} ${what}`,
        title: `${task?.[0] ?? nameOf(what, subscriptionId)} failed and is tried again: ${reason}.`,
        advice: task?.[1] ?? adviceFor(what),
        ...(subscriptionId === undefined ? { orderId } : { subscriptionId }),
      })
    }
  return found
}

type Task = readonly [name: string, todo: string]

const askNode = 'Check the node of this chain. Everything else goes on.'

const tasks: Readonly<Record<TaskName, Task>> = {
  submitter: [
    'All work of a sending account',
    'The node does not return the account’s state, or is on another chain: check the node.',
  ],
  batches: ['Choosing what is sent together', askNode],
  captureKeys: ['Asking about capture keys', askNode],
  watch: ['Watching the chain', 'Check the node: it gives no newest block.'],
  head: ['Watching the chain', 'Check the node: it gives no newest block.'],
  finality: [
    'Finality',
    'The node has no safe block, or its blocks contradict each other: set policy.blocks, or use another node.',
  ],
  reorganizations: ['Looking for replaced blocks', askNode],
  expiry: ['Ending orders whose window is over', askNode],
  drafts: ['Ending orders that nobody signed', askNode],
  reconciliation: [
    'Comparing your records with the chain',
    'Check the node: it must give old logs and receipts.',
  ],
  fulfilment: ['Fulfilling captured orders', askNode],
  finalityRaised: ['Following captures until they are final', askNode],
  refunds: ['Carrying out refunds', askNode],
  schedule: ['Charging subscriptions', 'Check the node of their chain.'],
  charges: ['Watching charges', 'Check the node of their chain.'],
}

const nonceForm = /^(?:settle|resend|replace|fill) nonce (\d+)$/

/** Returns the words for work that concerns no single order. */
function taskOf(what: string): Task | undefined {
  if (Object.hasOwn(tasks, what)) return tasks[what as TaskName]
  const [, nonce] = nonceForm.exec(what) ?? []
  return nonce === undefined
    ? undefined
    : [`The transaction with account nonce ${nonce}`, askNode]
}

function nameOf(what: string, subscriptionId: string | undefined): string {
  if (what.startsWith('revocation '))
    return `Looking for the revocation of subscription ${what.slice(11)}`
  const id = what.replace(/^sign:/, '').replace('\t', ', refund ')
  const kind = subscriptionId === undefined ? '' : 'subscription '
  return `Work on ${what.startsWith('sign:') ? 'signing ' : ''}${kind}${id}`
}

function adviceFor(what: string): string {
  return what.startsWith('sign:')
    ? 'Repair the key service or the sealing key; all other orders go on.'
    : 'Everything else goes on. If it stays, run: npx countersign doctor'
}

/**
 * An order's id, or a refund's, which begins with its order's id and a tab;
 * with `sign:` before it or not. Hashes and ids after other words have no page.
 */
const idForm = /^(?:sign:)?(?!0x[\da-f]{64}$|revocation )([^\t]+)/
