export { decodeTokenLog, type TokenEvent } from './logs/decodeTokenLog.js'
export {
  type GetLogsParameters,
  getLogs,
  type LogProgress,
} from './logs/getLogs.js'
export {
  type LogChunk,
  type StreamLogsParameters,
  streamLogs,
} from './logs/streamLogs.js'
export type { LogEvent } from './logs/trackLogs.js'
export type { LogFilter, ReadLog } from './logs/types.js'
export { type WatchLogsParameters, watchLogs } from './logs/watchLogs.js'
export { BlockReceiptsForbiddenError, LogRangeError } from './rpc/errors.js'
export {
  type CreateReadClientParameters,
  createReadClient,
  type ReadClient,
} from './state/createReadClient.js'
export {
  detectPreconfirmations,
  type Preconfirmations,
} from './state/detectPreconfirmations.js'
export { type GetBalanceParameters, getBalance } from './state/getBalance.js'
export {
  type BlockReceipts,
  type GetBlockReceiptsParameters,
  getBlockReceipts,
} from './state/getBlockReceipts.js'
export {
  type GetTransactionCountParameters,
  getTransactionCount,
} from './state/getTransactionCount.js'
export type { ReadReceipt } from './state/parseRpcReceipt.js'
