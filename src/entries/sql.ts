export {
  type PostgresStoreParameters,
  postgresStore,
} from '../store/postgresStore.js'
export {
  type SqliteStoreParameters,
  sqliteStore,
} from '../store/sqliteStore.js'
