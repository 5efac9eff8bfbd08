import type { Hex } from 'viem'
import { clientOf } from '../../orders/engine.js'
import type { ChannelRecord } from '../../store/types.js'
import { writeNew } from '../../store/writeAgain.js'
import { getChannel } from '../contract/getChannel.js'
import type { ChannelConfig } from '../contract/types.js'
import { copyChain } from '../record/copyChain.js'
import { newChannel } from '../record/newChannel.js'
import { noteMovement } from '../record/noteMovements.js'
import type { ChannelsContext } from './context.js'

/**
 * Takes a channel on record that only the chain knows, for example because the
 * payer deposited without the gate, or the record was lost. What was claimed
 * counts as charged: nobody can prove more. Returns `undefined` if the chain does
 * not know it either.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function adoptChannel(
  { context, book }: ChannelsContext,
  { id, chainId, config }: { id: Hex; chainId: number; config: ChannelConfig },
): Promise<ChannelRecord | undefined> {
  const { receiver: recipient, ...terms } = config
  const client = clientOf(context, { chainId, token: config.token })
  const chain = await getChannel(client, { channelId: id })
  if (chain.balance === 0n) return undefined
  const now = context.now() / 1000n
  const row = newChannel({ ...terms, id, chainId, recipient }, now)
  const copied = copyChain({ ...row, version: 1, position: 0n }, chain)
  await writeNew(context, async (tables) => {
    const [known] = await tables.channels.find({ ids: [id] })
    if (known) return
    await tables.channels.insert([copied])
    await noteMovement(tables, [id])
  })
  return book.reload(id)
}
