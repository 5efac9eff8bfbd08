export {
  type CreateReadClientParameters,
  createReadClient,
  type ReadClient,
} from '../reads/createReadClient.js'
export { decodeTokenLog, type TokenEvent } from '../reads/decodeTokenLog.js'
export {
  detectPreconfirmations,
  type Preconfirmations,
} from '../reads/detectPreconfirmations.js'
export { BlockReceiptsForbiddenError, LogRangeError } from '../reads/errors.js'
export { type GetBalanceParameters, getBalance } from '../reads/getBalance.js'
export {
  type BlockReceipts,
  type GetBlockReceiptsParameters,
  getBlockReceipts,
} from '../reads/getBlockReceipts.js'
export {
  type GetLogsParameters,
  getLogs,
  type LogProgress,
} from '../reads/getLogs.js'
export {
  type GetTransactionCountParameters,
  getTransactionCount,
} from '../reads/getTransactionCount.js'
export type { LogFilter, ReadLog, TopicFilter } from '../reads/logTypes.js'
export type {
  OpStackReceiptFields,
  ReadReceipt,
} from '../reads/readRpcReceipt.js'
export {
  type LogChunk,
  type StreamLogsParameters,
  streamLogs,
} from '../reads/streamLogs.js'
export type { LogEvent, SealedGrade } from '../reads/trackLogs.js'
export { type WatchLogsParameters, watchLogs } from '../reads/watchLogs.js'
