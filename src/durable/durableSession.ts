import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { SqlSession } from '../sql/tables/sqlEngine.js'
import type { SqlTables } from '../sql/tables/sqlTables.js'
import { StoreError } from '../store/errors.js'
import type { ObjectUnit } from './objectDatabase.js'
import { toStatement } from './runStatement.js'

/** Creates a session whose statements run in this unit. */
export function durableSession(unit: ObjectUnit): SqlSession {
  const connection: DatabaseConnection = {
    // The cast is needed because the caller names the type of the rows.
    executeQuery: async (query) => unit.run(toStatement(query)) as never,
    streamQuery: () => {
      throw unused()
    },
  }
  const refuse = () => Promise.reject(unused())
  const driver: Driver = {
    init: async () => undefined,
    acquireConnection: async () => connection,
    releaseConnection: async () => undefined,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => undefined,
  }
  return new Kysely<SqlTables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (session) => new SqliteIntrospector(session),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
}

/** The engine begins and ends transactions itself. */
function unused(): StoreError {
  return new StoreError('has no such statement')
}
