import type { OrderEvent } from 'countersign/orders'

export const event: OrderEvent<'captured'> = {
  chainId: 8453,
  token: `0x${'a'.repeat(40)}`,
  recipient: `0x${'b'.repeat(40)}`,
  cursor: 12n,
  orderId: 'order-1',
  sequence: 3,
  type: 'captured',
  at: 1_760_000_000_123n,
  data: {
    transactionHash: `0x${'c'.repeat(64)}`,
    logIndex: 4,
    blockNumber: '36712345',
    value: '12500000',
    submitter: `0x${'b'.repeat(40)}`,
  },
}
