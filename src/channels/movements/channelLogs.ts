import type { Hex } from 'viem'
import type { ProofLog, ProofReceipt } from '../../core/receiptProof.js'
import { same } from '../../core/receiptProof.js'
import { channelContract } from '../contract/channelDomain.js'
import {
  type ChannelEvent,
  decodeChannelLog,
} from '../contract/decodeChannelLog.js'

type Named<name extends ChannelEvent['name']> = {
  log: ProofLog
  event: Extract<ChannelEvent, { name: name }>
}

/** Finds the events of one name that the contract logged in a transaction. */
export function channelLogs<name extends ChannelEvent['name']>(
  { status, logs }: Pick<ProofReceipt, 'status' | 'logs'>,
  name: name,
): Named<name>[] {
  if (status !== 'success') return []
  return logs.flatMap((log): Named<name>[] => {
    if (!same(log.address, channelContract)) return []
    const topics = log.topics.map((topic) => topic.toLowerCase() as Hex)
    const event = decodeChannelLog({ topics, data: log.data })
    return event?.name === name ? [{ log, event } as Named<name>] : []
  })
}
