import { type Channels, keepDesk } from '../gate/channelDesk.js'
import type { ChannelFlow } from '../gate/types.js'
import { answerChannel } from './answerChannel.js'

/** Opens what a gate needs to sell over these channels. */
export function openChannelFlow(channels: Channels): ChannelFlow {
  const desk = keepDesk(channels, () => {
    throw new Error('not yet')
  })
  return { desk, answer: answerChannel }
}
