import type { Client } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { wait } from '../../core/wait.js'
import { FinalityUnsupportedError } from '../rpc/errors.js'
import { type BlockSelector, getBlockHead } from '../rpc/requestNode.js'
import { encodeLogFilter, logMatcher } from './encodeLogFilter.js'
import { getLogs, getPendingLogs } from './getLogs.js'
import { openLogSocket } from './openLogSocket.js'
import {
  createLogTracker,
  finalities,
  type LogEvent,
  type SealedFinality,
} from './trackLogs.js'
import type { LogFilter, ReadLog } from './types.js'

/** Most blocks to read at once, before their logs are reported. */
const stride = 8_000n

/** Filter, handlers and options of {@link watchLogs}. */
export type WatchLogsParameters = Omit<
  LogFilter,
  'blockHash' | 'toBlock' | 'fromBlock'
> & {
  /** First block to report. @default the one after the newest */
  fromBlock?: bigint | undefined
  /**
   * Finality up to which events are reported for each log.
   * @default 'included'
   */
  finality?: SealedFinality | undefined
  /** Called for each event, one after the other. */
  onEvent: (event: LogEvent) => void
  /** Called for each fault, such as a failed request. The watch continues. */
  onError?: ((error: unknown) => void) | undefined
  /**
   * WebSocket URL of a node on the same network. With it, events arrive sooner
   * than at the next poll.
   */
  webSocket?: string | undefined
  /**
   * True to read pre-confirmed logs at each poll too.
   * @default false
   */
  preconfirmed?: boolean | undefined
  /** Milliseconds between two polls. @default the client's */
  pollingInterval?: number | undefined
  /**
   * Blocks to read again at each poll, to notice reorganizations. @default 32n
   */
  overlap?: bigint | undefined
}

/**
 * Follows the logs of a filter as events: pre-confirmed, included, safe and
 * finalized, and removed or dropped if the chain no longer has the log. Each
 * poll reads the newest blocks again with `getLogs`. A WebSocket only triggers
 * polls and delivers pre-confirmed logs. So no event comes twice, and the next
 * poll finds what a connection or a replica missed.
 *
 * When blocks become safe, `watchLogs` reads all of them once more. This finds
 * reorganizations deeper than `overlap`, and logs that a replica left out
 * because it was behind by more than `overlap` blocks. With `finality:
 * 'included'` there is no second read: raise `overlap` for such a provider.
 *
 * @throws {@link InvalidFieldError} when the filter or an option is malformed.
 *
 * @example
 * ```ts
 * import { createReadClient } from 'countersign/reads'
 *
 * const client = createReadClient({ url: 'http://127.0.0.1:8545' })
 * const unwatch = client.watchLogs({
 *   address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *   finality: 'safe',
 *   onEvent: (event) => console.log(event.type),
 * })
 * setTimeout(unwatch, 60_000)
 * ```
 */
export function watchLogs(
  client: Client,
  parameters: WatchLogsParameters,
): () => void {
  checkMembers(parameters, [
    'address',
    'topics',
    'fromBlock',
    'finality',
    'onEvent',
    'onError',
    'webSocket',
    'preconfirmed',
    'pollingInterval',
    'overlap',
  ])
  const given: WatchLogsParameters = Object(parameters)
  const { address, topics, finality = 'included', onEvent } = given
  const { overlap = 32n, preconfirmed = false } = given
  const { pollingInterval = client.pollingInterval } = given
  const wire = encodeLogFilter({ address, topics, fromBlock: 'latest' })
  requireOptions({ ...given, finality, pollingInterval })
  const stop = new AbortController()
  /**
   * Reports an error, also one that a handler of the caller throws: it must not
   * end the watch.
   */
  const report = (error: unknown): void => {
    if (stop.signal.aborted) return
    try {
      given.onError?.(error)
    } catch {
      // Drops an error that `onError` itself throws: there is nobody left to
      // tell.
    }
  }
  const emit = (event: LogEvent): void => {
    if (stop.signal.aborted) return
    try {
      const result: unknown = onEvent(event)
      // Catches the rejection of an async handler, which would otherwise end
      // the process.
      if (result instanceof Promise) result.catch(report)
    } catch (error) {
      report(error)
    }
  }
  const tracker = createLogTracker(emit, finality)
  const isWanted = logMatcher(wire)

  let start = given.fromBlock
  let scanned: bigint | undefined
  let lost: bigint | undefined
  let regained = false
  let due = false
  let nudge = new AbortController()
  const unsupported = new Set<string>()
  /**
   * For each finality: the first block that was not yet read again after it
   * became safe or finalized.
   */
  const finalityRaised = new Map<string, bigint>()

  const headOf = (block: BlockSelector) =>
    getBlockHead(client, block, { signal: stop.signal })
  /**
   * Reads the logs of these blocks. Leaves out pre-confirmed logs.
   */
  const read = async (first: bigint, last: bigint): Promise<ReadLog[]> => {
    const range = { fromBlock: first, toBlock: last, signal: stop.signal }
    const logs = await getLogs(client, { address, topics, ...range })
    return logs.filter((log) => !log.preconfirmed)
  }

  const look = async (): Promise<void> => {
    const closes = regained
    const head = await headOf('latest')
    if (!head) return
    start ??= head.number + 1n
    if (preconfirmed) await lookAhead().catch(report)
    // A newest block below the last one we read means that the chain got
    // shorter, or that a replica is behind. Then read again from `overlap`
    // blocks below it.
    const known = scanned === undefined || scanned < head.number
    const again = ((known ? scanned : head.number) ?? start) - overlap
    let first = scanned === undefined || again < start ? start : again
    for (; first <= head.number; first += stride) {
      const end = first + stride - 1n
      const last = end < head.number ? end : head.number
      const logs = await read(first, last)
      await removeMissing(logs, { first, last })
      for (const log of logs) tracker.include(log)
      scanned = last
    }
    scanned = head.number
    if (finality !== 'included') await raise('safe')
    if (finality === 'finalized') await raise('finalized')
    tracker.settle(head.number, head.number - overlap)
    if (lost === undefined || !closes) return
    const gap = { fromBlock: lost, toBlock: head.number }
    lost = undefined
    emit({ type: 'gap', ...gap })
  }
  const lookAhead = async (): Promise<void> => {
    for (const log of await getPendingLogs(client, wire, stop.signal))
      if (log.preconfirmed) tracker.preconfirm(log)
  }
  /**
   * Reports a missing log as removed only if the node has another block with
   * its number. A replica that is behind has no such block, and proves nothing.
   */
  const removeMissing = async (
    logs: readonly ReadLog[],
    range: { first: bigint; last: bigint },
  ): Promise<void> => {
    const missing = tracker.missing(logs, range)
    const numbers = [...new Set(missing.map((log) => log.blockNumber))]
    const blocks = await Promise.all(numbers.map(headOf))
    for (const log of missing) {
      const block = blocks[numbers.indexOf(log.blockNumber)]
      const isOther = block?.hash && block.hash !== log.blockHash
      if (isOther && block.number === log.blockNumber) tracker.remove(log)
    }
  }
  const raise = async (finality: 'safe' | 'finalized'): Promise<void> => {
    const head = await headOf(finality)
    if (!head && !unsupported.has(finality)) {
      unsupported.add(finality)
      report(new FinalityUnsupportedError({ finality }))
    }
    if (!head || start === undefined) return
    const next = finalityRaised.get(finality) ?? start
    const oldest = tracker.oldestBelow(finality) ?? next
    let first = oldest < next ? oldest : next
    for (; first <= head.number; first += stride) {
      const end = first + stride - 1n
      const last = end < head.number ? end : head.number
      const logs = await read(first, last)
      await removeMissing(logs, { first, last })
      for (const log of logs) if (log.blockNumber >= start) tracker.include(log)
      tracker.raise(finality, logs)
      if (last >= next) finalityRaised.set(finality, last + 1n)
    }
  }

  const wake = (): void => {
    due = true
    nudge.abort()
  }
  const close = given.webSocket
    ? openLogSocket(given.webSocket, wire, {
        onPending: (log) => {
          if (isWanted(log)) tracker.preconfirm(log)
        },
        onHead: wake,
        onOpen: () => {
          regained = true
          wake()
        },
        onLost: () => {
          regained = false
          lost ??= scanned
        },
        onError: report,
      })
    : () => {}
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      due = false
      nudge = new AbortController()
      await look().catch(report)
      if (!due && !stop.signal.aborted)
        await wait(pollingInterval, nudge.signal)
    }
  }
  void run()
  return () => {
    stop.abort()
    nudge.abort()
    close()
  }
}

function requireOptions(options: WatchLogsParameters): void {
  const { onEvent, finality, pollingInterval = 0, webSocket } = options
  for (const field of ['fromBlock', 'overlap'] as const) {
    const blocks: unknown = options[field]
    if (blocks !== undefined && (typeof blocks !== 'bigint' || blocks < 0n))
      throw new InvalidFieldError(field, shown(blocks), 'a bigint of 0 or more')
  }
  if (typeof onEvent !== 'function')
    throw new InvalidFieldError('onEvent', onEvent, 'a function')
  if (!finality || !finalities.includes(finality))
    throw new InvalidFieldError('finality', shown(finality), finalities)
  // A JavaScript timer fires at once if its time is longer, or not a number.
  if (!(pollingInterval >= 0 && pollingInterval <= 2_147_483_647))
    throw new InvalidFieldError(
      'pollingInterval',
      shown(pollingInterval),
      'milliseconds from 0 to 2147483647',
    )
  if (webSocket !== undefined && !isSocketUrl(webSocket))
    throw new InvalidFieldError(
      'webSocket',
      webSocket,
      'a ws(s) or http(s) URL',
    )
}

function isSocketUrl(url: unknown): boolean {
  return URL.canParse(String(url)) && /^(ws|http)s?:/i.test(String(url))
}
