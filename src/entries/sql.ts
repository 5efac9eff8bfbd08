export type { PostgresStoreParameters } from '../sql/postgresEngine.js'
export type {
  PostgresClient,
  PostgresPool,
  PostgresRequest,
} from '../sql/postgresPool.js'
export { postgresStore } from '../sql/postgresStore.js'
export {
  type SqliteStoreParameters,
  sqliteStore,
} from '../sql/sqliteStore.js'
