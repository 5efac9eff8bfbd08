import type { WireFilter } from './encodeLogFilter.js'
import type { ReadLog } from './logTypes.js'

/**
 * Says of each log whether it is one the filter asks for: an answer can be
 * meant for another question, and a subscription can forget its filter.
 */
export function logMatcher({
  address,
  topics = [],
}: WireFilter): (log: Pick<ReadLog, 'address' | 'topics'>) => boolean {
  const addresses = new Set(address === undefined ? [] : [address].flat())
  const wanted = topics.map((one) => new Set(one === null ? [] : [one].flat()))
  return (log) =>
    (addresses.size === 0 || addresses.has(log.address)) &&
    wanted.every((any, i) => {
      const topic = log.topics[i] ?? ''
      return any.size === 0 || any.has(topic) || any.has(topic.toLowerCase())
    })
}
