import type { Instance, OrdersContext } from '../../orders/engine.js'
import type { ChannelBook } from '../record/openBook.js'
import type { ChannelsPolicy } from '../record/types.js'
import type { RecoverSigner } from '../vouchers/checkVoucher.js'

/** What every function of the channels needs. */
export type ChannelsContext = {
  context: OrdersContext
  instance: Instance
  policy: ChannelsPolicy
  book: ChannelBook
  /** Recovers the signer of each voucher faster than viem does. */
  recoverAddress?: RecoverSigner | undefined
}
