/** A small change of a source file that tests ought to notice. */
export type Mutant = {
  id: string
  fileName: string
  /** Lines and columns count from 0. */
  location: { start: { line: number; column: number } }
  mutatorName: string
  replacement: string
}

/** The mutants that one test file reaches. */
export type Reached = {
  file: string
  /** Reached by a module that a worker loads once for all its test files. */
  onLoad: string[]
  inTests: string[]
}

/** What the runner reported of one test file. */
export type FileReport = { file: string; passed: number; seconds: number }

/** What one run of the runner ended with. */
export type Run =
  | { end: 'passed'; files: readonly FileReport[] }
  | { end: 'failed'; words: string }
  /** It hung until its time limit, or crashed. */
  | { end: 'noReport' }
