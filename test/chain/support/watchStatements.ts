import Database from 'libsql'

type Statement = {
  readonly reader: boolean
  all(values: unknown): unknown
  run(values: unknown): unknown
}

/**
 * Calls `note` for every statement that SQLite runs in this process. Returns a
 * function that ends this.
 */
export function watchStatements(
  note: (text: string, values: unknown) => void,
): () => void {
  const { prepare } = Database.prototype
  const noting = function (this: unknown, text: string) {
    const statement: Statement = Reflect.apply(prepare, this, [text])
    const noted = (name: 'all' | 'run') => (values: unknown) => {
      note(text, values)
      return statement[name](values)
    }
    const { reader } = statement
    return { reader, all: noted('all'), run: noted('run') }
  }
  Reflect.set(Database.prototype, 'prepare', noting)
  return () => {
    Reflect.set(Database.prototype, 'prepare', prepare)
  }
}
