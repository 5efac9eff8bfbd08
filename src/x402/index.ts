export type { X402ErrorCode } from './wire/errorCodes.js'
export { redactHeaders } from './wire/headers.js'
export type { PaymentFlow } from './wire/requirements.js'
