import type { Address, Hex } from 'viem'
import type { ChannelConfig } from './types.js'

/** An event of the channel contract. Amounts are base units of the token. */
export type ChannelEvent =
  /** First deposit, also the first after everything was taken out. */
  | { name: 'created'; channelId: Hex; config: ChannelConfig }
  /** The last token was taken out of a channel that claimed nothing. */
  | { name: 'closed'; channelId: Hex; config: ChannelConfig }
  | {
      name: 'deposited'
      channelId: Hex
      sender: Address
      value: bigint
      /** Balance of the channel after it. */
      balance: bigint
    }
  | {
      name: 'claimed'
      channelId: Hex
      sender: Address
      value: bigint
      /** Total claimed after it. */
      claimed: bigint
    }
  | {
      name: 'settled'
      receiver: Address
      token: Address
      sender: Address
      value: bigint
    }
  | { name: 'refunded'; channelId: Hex; sender: Address; value: bigint }
  | {
      name: 'withdrawInitiated'
      channelId: Hex
      value: bigint
      /** Unix seconds from which the payer can end the withdrawal. */
      withdrawableAt: bigint
    }
  | {
      name: 'withdrawFinalized'
      channelId: Hex
      sender: Address
      value: bigint
    }

/**
 * First topics of the contract's events. Each event but `settled` has the
 * channel id as its second topic, and none has the receiver.
 */
export const channelTopics: Readonly<Record<ChannelEvent['name'], Hex>> = {
  created: '0x69d8248d5566bdb2ebc4d218970710d8378a2ff9b709a999e052b71970f808fa',
  closed: '0x8d5942f197f362dfd44dfdc1b0b7a9721c9151b67f55817c83349271d3c08d37',
  deposited:
    '0x6c2a09353b5e75e70d0b9778b80a413809bb235d46c211811c474b3346791d89',
  claimed: '0x36bd546bb573e8921fdbfd934bbed62d872796b01792cd240cce27f79dd3eddd',
  settled: '0x7337b4386b690fdb8ba66905b92b9d45d33bc6626ee2620c905fb150ec0cc47d',
  refunded:
    '0xa84286cf8ebc7903a663c77c8d99aa92b600d4c2fcca872a5d4a663db4eb394b',
  withdrawInitiated:
    '0xe4280d0d903c7f258f62b07c62f262377cbaa23f7791d78126e6446e0f0e3c23',
  withdrawFinalized:
    '0x546ce1e2242cd930c196bd08b894443562d709b4fffe4f028a75a6d233efc6e3',
}

/** How many topics and words of data each event has. */
const shapes: Readonly<
  Record<ChannelEvent['name'], readonly [number, number]>
> = {
  created: [2, 7],
  closed: [2, 7],
  deposited: [3, 2],
  claimed: [3, 2],
  settled: [4, 1],
  refunded: [3, 1],
  withdrawInitiated: [2, 2],
  withdrawFinalized: [3, 1],
}

/**
 * Decodes an event of the channel contract; `undefined` for any other log.
 * Addresses are lower case.
 *
 * Does not check which contract emitted the log: filter by `channelContract`.
 *
 * @example
 * ```ts
 * import { decodeChannelLog } from 'countersign/channels'
 * import type { ReadLog } from 'countersign/reads'
 *
 * export const withdrawals = (logs: readonly ReadLog[]) =>
 *   logs
 *     .map(decodeChannelLog)
 *     .filter((event) => event?.name === 'withdrawInitiated')
 * ```
 */
export function decodeChannelLog(log: {
  topics: readonly Hex[]
  data: Hex
}): ChannelEvent | undefined {
  const name = nameOf(log.topics[0])
  if (!name) return undefined
  const [topicCount, wordCount] = shapes[name]
  const topics = log.topics.slice(1)
  if (topics.length !== topicCount - 1 || !topics.every(isWord))
    return undefined
  if (!/^0x([\da-f]{64})+$/i.test(log.data)) return undefined
  const words = log.data.toLowerCase().slice(2).match(/.{64}/g) ?? []
  return words.length === wordCount
    ? eventOf(
        name,
        topics.map((topic) => topic.slice(2).toLowerCase()),
        words,
      )
    : undefined
}

function nameOf(topic: unknown): ChannelEvent['name'] | undefined {
  for (const [name, hash] of Object.entries(channelTopics))
    if (hash === topic) return name as ChannelEvent['name']
  return undefined
}

const isWord = (topic: unknown): topic is Hex =>
  typeof topic === 'string' && /^0x[\da-f]{64}$/i.test(topic)

const addressOf = (word = ''): Address => `0x${word.slice(24)}`
const numberOf = (word = ''): bigint => BigInt(`0x${word}`)

function eventOf(
  name: ChannelEvent['name'],
  topics: readonly string[],
  words: readonly string[],
): ChannelEvent {
  const channelId: Hex = `0x${topics[0]}`
  const sender = addressOf(topics[1])
  const value = numberOf(words[0])
  switch (name) {
    case 'created':
    case 'closed':
      return { name, channelId, config: configOf(words) }
    case 'deposited':
      return { name, channelId, sender, value, balance: numberOf(words[1]) }
    case 'claimed':
      return { name, channelId, sender, value, claimed: numberOf(words[1]) }
    case 'settled':
      return {
        name,
        receiver: addressOf(topics[0]),
        token: addressOf(topics[1]),
        sender: addressOf(topics[2]),
        value,
      }
    case 'withdrawInitiated':
      return { name, channelId, value, withdrawableAt: numberOf(words[1]) }
    default:
      return { name, channelId, sender, value }
  }
}

function configOf(words: readonly string[]): ChannelConfig {
  return {
    payer: addressOf(words[0]),
    payerAuthorizer: addressOf(words[1]),
    receiver: addressOf(words[2]),
    receiverAuthorizer: addressOf(words[3]),
    token: addressOf(words[4]),
    withdrawDelay: Number(numberOf(words[5])),
    salt: `0x${words[6] ?? ''}`,
  }
}
