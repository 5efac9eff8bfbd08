import { StoreError } from '../../store/errors.js'

/**
 * This process can no longer use the database: it was taken away from under the
 * store, or a newer release migrated it. Every write fails until the process is
 * restarted.
 */
export class SqlLoss extends StoreError {}
