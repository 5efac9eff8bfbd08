// What a checkout page takes.
import { decodePayment, signPayment } from 'countersign'

export const checkout = { decodePayment, signPayment }
