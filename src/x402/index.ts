export { createFacilitator } from './createFacilitator.js'
export { createX402Gate } from './createX402Gate.js'
export type {
  Facilitator,
  FacilitatorCaller,
  FacilitatorParameters,
} from './facilitator/types.js'
export { ChargeRejectedError, X402SetupError } from './gate/errors.js'
export type {
  X402ChannelOffer,
  X402Offer,
} from './gate/offers.js'
export type {
  X402Gate,
  X402GateParameters,
  X402Handler,
  X402Payment,
  X402Paywall,
} from './gate/types.js'
export { expressPayment } from './middleware/expressPayment.js'
export { honoPayment, type X402Variables } from './middleware/honoPayment.js'
export { nextPayment } from './middleware/nextPayment.js'
export { channelStorage } from './stock/channelStorage.js'
export { pendingSettlementStore } from './stock/pendingSettlementStore.js'
export type {
  ChannelStorageParameters,
  X402Channel,
  X402ChannelStorage,
} from './stock/types.js'
export { redactHeaders } from './wire/headers.js'
