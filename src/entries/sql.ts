export type { PostgresStoreParameters } from '../store/postgresEngine.js'
export type {
  PostgresClient,
  PostgresPool,
  PostgresRequest,
} from '../store/postgresPool.js'
export { postgresStore } from '../store/postgresStore.js'
export {
  type SqliteStoreParameters,
  sqliteStore,
} from '../store/sqliteStore.js'
