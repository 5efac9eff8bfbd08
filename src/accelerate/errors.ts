import { CountersignError } from '../core/CountersignError.js'

/** The WebAssembly code cannot be loaded or compiled in this runtime. */
export class AcceleratorError extends CountersignError {
  override readonly name = 'AcceleratorError'

  constructor(problem: string, cause: unknown) {
    super(`The accelerator ${problem}.`, { problem, words: String(cause) })
  }
}
