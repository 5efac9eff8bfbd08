import { InvalidFieldError } from '../core/errors.js'
import type { Channels } from './Channels.js'
import type { ChannelsContext } from './verbs/context.js'

const contexts = /* @__PURE__ */ new WeakMap<Channels, ChannelsContext>()

export function keepChannelsContext(
  channels: Channels,
  context: ChannelsContext,
): Channels {
  contexts.set(channels, context)
  return channels
}

/**
 * Returns what a gate needs of channels.
 *
 * @throws {@link InvalidFieldError} when `createChannels` did not make them.
 */
export function channelsContextOf(channels: Channels): ChannelsContext {
  const found = contexts.get(Object(channels))
  if (found) return found
  throw new InvalidFieldError(
    'channels',
    channels,
    'what createChannels of countersign/channels returns',
  )
}
