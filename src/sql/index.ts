export type { PostgresStoreParameters } from './engines/postgresParameters.js'
export type {
  PostgresClient,
  PostgresPool,
  PostgresRequest,
} from './engines/postgresPool.js'
export { postgresStore } from './postgresStore.js'
export {
  type SqliteStoreParameters,
  sqliteStore,
} from './sqliteStore.js'
