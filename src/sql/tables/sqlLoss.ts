import { StoreError } from '../../store/errors.js'

/**
 * The database was taken away from under the store. Every call fails until the
 * process is restarted.
 */
export class SqlLoss extends StoreError {
  constructor(problem: string) {
    super(`lost its ${problem}: restart the process`)
  }
}
