import { createTransport, type EIP1193RequestFn, type Transport } from 'viem'
import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import {
  type Ask,
  type Failing,
  type FaultKind,
  type FaultTransportParameters,
  injectFault,
  isPossible,
  type Question,
  remember,
} from './injectFault.js'
import { seededRandom } from './seededRandom.js'

/** A fault that the transport has caused. */
type InjectedFault = {
  /** Number of the call, from 0. A retry counts as a further call. */
  call: number
  method: string
  kind: FaultKind
}

/**
 * A transport whose calls fail on purpose, with a list of the faults so far.
 */
export type FaultTransport = Transport & {
  readonly faults: readonly InjectedFault[]
}

const kinds: readonly FaultKind[] = [
  'drop',
  'delay',
  'duplicate',
  'http429',
  'http500',
  'http503',
  'truncated',
  'malformed',
  'wrongId',
  'staleHead',
  'otherReplica',
]

/**
 * Wraps any viem transport so that some calls fail as they would with a bad
 * network or node. Half of the dropped calls reach the node, and only their
 * answer is lost. `wrongId` returns the answer of an earlier call.
 *
 * Subscriptions have no faults. viem retries a failed call, and the retry can
 * fail too.
 *
 * @throws {@link InvalidFieldError} when a rate is not from 0 to 1, or their
 * sum is above 1.
 *
 * @example
 * ```ts
 * import { faultTransport } from 'countersign/testing'
 * import { createClient, http } from 'viem'
 *
 * const transport = faultTransport(http('http://127.0.0.1:8545'), {
 *   seed: 7,
 *   rates: { drop: 0.1, http429: 0.1, staleHead: 0.05 },
 * })
 * const client = createClient({ transport })
 * ```
 */
export function faultTransport(
  transport: Transport,
  parameters: FaultTransportParameters,
): FaultTransport {
  checkMembers(parameters, [
    'seed',
    'rates',
    'delay',
    'retryAfter',
    'staleBlocks',
    'replica',
  ])
  const rates = checkRates(parameters.rates)
  const random = seededRandom(parameters.seed)
  const faults: InjectedFault[] = []
  let count = 0

  const wrapped: Transport = (config) => {
    const inner = transport(config)
    const failing: Failing = {
      ask: askOnce(inner.request),
      replica:
        parameters.replica && askOnce(parameters.replica(config).request),
      url: String(Object(inner.value).url ?? 'a faulty node'),
      previous: undefined,
    }
    const request = async (question: Question): Promise<unknown> => {
      const call = count++
      // Draws both numbers for every call, even if only one is needed.
      // Otherwise a fault in one call would change the faults of later calls.
      const [draw, detail] = [random(), random()]
      const kind = pickKind(rates, draw)
      if (!kind || !isPossible(kind, question, failing))
        return remember(failing, await failing.ask(question))
      faults.push({ call, method: question.method, kind })
      return injectFault(kind, { question, detail, failing, parameters })
    }
    // Removes the `send` of the inner transport, which would bypass the faults.
    const { send: _, ...value } = Object(inner.value)
    const { retryCount, retryDelay, timeout } = inner.config
    return createTransport(
      {
        key: 'faults',
        name: 'Faults',
        type: inner.config.type,
        retryCount,
        retryDelay,
        timeout,
        request: request as EIP1193RequestFn,
      },
      value,
    )
  }
  return Object.assign(wrapped, { faults })
}

/**
 * Calls the node without retries. Only viem's retries around this transport may
 * repeat a call, because only they see the injected faults.
 */
function askOnce(request: EIP1193RequestFn): Ask {
  return (question) => request(question as never, { retryCount: 0 })
}

function pickKind(
  rates: readonly (readonly [FaultKind, number])[],
  draw: number,
): FaultKind | undefined {
  let edge = 0
  return rates.find(([, rate]) => {
    edge += rate
    return draw < edge
  })?.[0]
}

function checkRates(
  given: FaultTransportParameters['rates'],
): (readonly [FaultKind, number])[] {
  for (const kind of Object.keys(given ?? {}))
    if (!kinds.some((known) => known === kind))
      throw new InvalidFieldError(
        'rates',
        shown(kind),
        `an object with only the members ${kinds.join(', ')}`,
      )
  const rates = kinds.map(
    (kind) => [kind, given ? (given[kind] ?? 0) : 0.02] as const,
  )
  for (const [kind, rate] of rates)
    if (!(rate >= 0 && rate <= 1))
      throw new InvalidFieldError(
        `rates.${kind}`,
        shown(rate),
        'a number from 0 to 1',
      )
  const sum = rates.reduce((total, [, rate]) => total + rate, 0)
  // Allows a little more than 1: ten rates of 0.1, as binary fractions, add up
  // to slightly more.
  if (sum > 1.000_001)
    throw new InvalidFieldError('rates', shown(sum), 'at most 1 in total')
  return rates
}
