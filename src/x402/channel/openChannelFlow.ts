import type { Channels } from '../../channels/engine.js'
import { channelsContextOf } from '../../channels/engine.js'
import { keepDesk } from '../gate/channelDesk.js'
import type { ChannelFlow } from '../gate/types.js'
import { answerChannel } from './answerChannel.js'
import { openDesk } from './openDesk.js'

/** Opens what a gate needs to sell over these channels. */
export function openChannelFlow(channels: Channels): ChannelFlow {
  const desk = keepDesk(channels, () => openDesk(channelsContextOf(channels)))
  return { desk, answer: answerChannel }
}
