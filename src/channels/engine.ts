/**
 * What other parts of this package, such as x402, may use of channels, besides
 * the public entry `countersign/channels`.
 */

export { channelsContextOf } from './createChannels.js'
export { depositToChannel } from './verbs/depositToChannel.js'
